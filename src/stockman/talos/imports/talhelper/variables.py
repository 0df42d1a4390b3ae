"""Replace `${NAME}` in a text as talhelper does before it reads YAML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field

from stockman.config.comments import find_yaml_comments
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record

_VARIABLE = pattern(
    r"\$(?:"
    r"(?P<dollar>\$)"
    r"|(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<sign>:?[-=+])(?P<word>[^{}$]*))?\}"
    r"|(?P<odd>\{[^}\n]*\}?)"
    r")"
)


@record
class Variables:
    """Values by name, and the names of encrypted values."""

    values: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    """Names of variables in encrypted files; their values are never read."""


HIDDEN_VALUE_PREFIX = "stockman-hidden-value-of-"
"""Marks the position of an encrypted value in a text."""


def substitute_variables(
    file: str, text: str, variables: Variables, complain: Callable[[Problem], None]
) -> str:
    """Return the text with its variables replaced; comments stay unchanged.

    A variable without a value is reported and stays unchanged.
    """
    skipped = _comment_spans(text)

    def value(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in skipped):
            return match[0]
        if match["dollar"]:
            return "$"
        replaced = None if match["odd"] else _value(match, variables)
        if replaced is None:
            complain(_unset_problem(match, _position(file, text, match.start())))
            return match[0]
        return replaced

    return _VARIABLE.sub(value, text)


def _value(match: re.Match[str], variables: Variables) -> str | None:
    name = match["bare"] or match["name"]
    if name in variables.hidden:
        return f"{HIDDEN_VALUE_PREFIX}{name}"
    sign, default = match["sign"], match["word"] or ""
    known = variables.values.get(name)
    if sign in (":+", "+"):
        return default if known or (known is not None and sign == "+") else ""
    if known:
        return known
    if sign is None:
        return None
    return known if known is not None and not sign.startswith(":") else default


def _comment_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of comments; none if the text cannot be parsed."""
    import yaml

    try:
        comments = find_yaml_comments(text)
    except yaml.YAMLError:
        return []
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return [
        (start := starts[comment.line - 1] + comment.column - 1, start + len(comment.text) + 2)
        for comment in comments.comments
        if comment.line <= len(starts)
    ]


def _position(file: str, text: str, index: int) -> Position:
    before = text[:index]
    return Position(file, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def _unset_problem(match: re.Match[str], at: Position) -> Problem:
    if match["odd"]:
        return Problem(
            code="import.variable",
            what=f"{match[0]} is not a valid variable",
            where=at,
            why="a variable is `${NAME}`, `${NAME:-default}` or `$NAME`, and a dollar sign is `$$`",
            fix="use one of these forms",
        )
    name = match["bare"] or match["name"]
    return Problem(
        code="import.variable",
        what=f"the variable {name} has no value",
        where=at,
        why=f"neither talenv.yaml nor `--variable` sets {name}; a dollar sign is written as `$$`",
        fix=f"add {name} to talenv.yaml, or pass `--variable {name}=...`",
    )
