"""`${NAME}` in a text, replaced as talhelper does it before it reads YAML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field

from stockman.config.comments.find import find_yaml_comments
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.record import record

_VARIABLE = re.compile(
    r"\$(?:"
    r"(?P<dollar>\$)"
    r"|(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<sign>:?[-=+])(?P<word>[^{}$]*))?\}"
    r"|(?P<odd>\{[^}\n]*\}?)"
    r")"
)


@record
class Variables:
    """Values by name, and the names of values that are kept encrypted."""

    values: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    """Names that stand in encrypted files; their values are never asked for."""


HIDDEN_VALUE_PREFIX = "stockman-hidden-value-of-"
"""Stands in a text where a hidden value belongs, so that what holds it is known."""


def substitute_variables(
    file: str, text: str, variables: Variables, complain: Callable[[Problem], None]
) -> str:
    """The text with its variables replaced; comments stay as they are.

    What a variable is not known for is complained about, and stays.
    """
    skipped = _comment_spans(text)

    def value(found: re.Match[str]) -> str:
        if any(start <= found.start() < end for start, end in skipped):
            return found[0]
        if found["dollar"]:
            return "$"
        replaced = None if found["odd"] else _value(found, variables)
        if replaced is None:
            complain(_unset_problem(found, _position(file, text, found.start())))
            return found[0]
        return replaced

    return _VARIABLE.sub(value, text)


def _value(found: re.Match[str], variables: Variables) -> str | None:
    name = found["bare"] or found["name"]
    if name in variables.hidden:
        return f"{HIDDEN_VALUE_PREFIX}{name}"
    sign, word = found["sign"], found["word"] or ""
    known = variables.values.get(name)
    if sign in (":+", "+"):
        return word if known or (known is not None and sign == "+") else ""
    if known:
        return known
    if sign is None:
        return None
    return known if known is not None and not sign.startswith(":") else word


def _comment_spans(text: str) -> list[tuple[int, int]]:
    """Where comments stand; a text that cannot be read has none that are known."""
    import yaml

    try:
        found = find_yaml_comments(text)
    except yaml.YAMLError:
        return []
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return [
        (start := starts[one.line - 1] + one.column - 1, start + len(one.text) + 2)
        for one in found.comments
        if one.line <= len(starts)
    ]


def _position(file: str, text: str, index: int) -> Position:
    before = text[:index]
    return Position(file, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def _unset_problem(found: re.Match[str], at: Position) -> Problem:
    if found["odd"]:
        return Problem(
            code="import.variable",
            what=f"{found[0]} is no variable that can be replaced",
            where=at,
            why="a variable is `${NAME}`, `${NAME:-default}` or `$NAME`, and a dollar sign `$$`",
            fix="write it in one of these forms",
        )
    name = found["bare"] or found["name"]
    return Problem(
        code="import.variable",
        what=f"the variable {name} has no value",
        where=at,
        why=f"neither talenv.yaml nor `--variable` gives {name}, and a dollar sign is `$$`",
        fix=f"add {name} to talenv.yaml, or give `--variable {name}=...`",
    )
