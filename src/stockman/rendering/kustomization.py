"""Add entries to the user's own `kubernetes/apps/kustomization.yaml` and keep everything else."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from stockman.config.source.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    Unreadable,
    to_plain_data,
)
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import format_scalar
from stockman.model.errors import Refused
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

PATH = "kubernetes/apps/kustomization.yaml"
_KEY = "resources"
_DASH = pattern(r"[ \t]*-[ \t]+")


def add_entries(text: str, entries: Iterable[str]) -> str:
    """Return the file with missing entries added at the end of its resources.

    Refuses a file that cannot be parsed, and one whose list of resources cannot be located.
    """
    tree = _tree(text)
    resources = tree.get(_KEY)
    items = resources.items if isinstance(resources, SequenceNode) else []
    known = {posixpath.normpath(item.text) for item in items if isinstance(item, ScalarNode)}
    missing = [entry for entry in entries if posixpath.normpath(entry) not in known]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    extended = _extend_list(text, tree, missing, end)
    expected = {**_plain(tree), _KEY: [*(to_plain_data(item) for item in items), *missing]}
    try:
        same = _plain(read_yaml(PATH, extended)) == expected
    except Unreadable:
        same = False
    if not same:
        raise Refused(_unreadable_kustomization("its resources have an unusual format"))
    return extended


def list_entries(text: str) -> frozenset[str]:
    """Return the resources in a kustomization, without `./`; empty if it cannot be parsed."""
    try:
        resources = read_yaml(PATH, text).get(_KEY)
    except Unreadable:
        return frozenset()
    items = resources.items if isinstance(resources, SequenceNode) else []
    return frozenset(
        posixpath.normpath(item.text) for item in items if isinstance(item, ScalarNode)
    )


def _extend_list(text: str, tree: MappingNode, missing: list[str], end: str) -> str:
    resources = tree.get(_KEY)
    if isinstance(resources, SequenceNode) and resources.items:
        last = resources.items[-1]
        if not isinstance(last, ScalarNode):
            raise Refused(_unreadable_kustomization("the last of its resources is not a path"))
        dash = _DASH.match(_line(text, last.span[0]))
        if dash is None or text[_offset(text, resources)] == "[":
            stop = last.span[1]
            return (
                text[:stop]
                + "".join(f", {format_scalar(entry)}" for entry in missing)
                + text[stop:]
            )
        return _insert_after(
            text, last.span[1], [f"{dash[0]}{format_scalar(entry)}" for entry in missing], end
        )
    lines = [f"  - {format_scalar(entry)}" for entry in missing]
    if isinstance(resources, SequenceNode):
        start = _offset(text, resources)
        stop = text.index("]", start)
        return text[: start + 1] + ", ".join(map(format_scalar, missing)) + text[stop:]
    entry = tree.entries.get(_KEY)
    if entry is not None:
        return _insert_after(text, entry.key.span[1], lines, end)
    return _insert_after(text, len(text), [f"{_KEY}:", *lines], end)


def _insert_after(text: str, offset: int, lines: list[str], end: str) -> str:
    """Insert lines after the line of a character."""
    stop = text.find("\n", offset)
    added = "".join(f"{line}{end}" for line in lines)
    if stop >= 0:
        return text[: stop + 1] + added + text[stop + 1 :]
    return text + ("" if text.endswith("\n") or not text else end) + added


def _line(text: str, offset: int) -> str:
    """Return the line of a character."""
    start = text.rfind("\n", 0, offset) + 1
    stop = text.find("\n", offset)
    return text[start : stop if stop >= 0 else len(text)]


def _offset(text: str, sequence: SequenceNode) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: sequence.at.line - 1])) + sequence.at.column - 1


def _plain(tree: MappingNode) -> dict[str, object]:
    return {key: to_plain_data(entry.value) for key, entry in tree.entries.items()}


def _tree(text: str) -> MappingNode:
    try:
        return read_yaml(PATH, text)
    except Unreadable as unreadable:
        raise Refused(unreadable.problem) from None


def _unreadable_kustomization(why: str) -> Problem:
    return Problem(
        code="render.own-kustomization",
        what=f"{PATH} cannot be extended",
        where=PATH,
        why=why,
        fix="write its resources as a list with one path per line",
    )
