"""A user's own `kubernetes/apps/kustomization.yaml`: it gets our entries, and keeps all else."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import Mapping, Scalar, Sequence, untyped
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.yaml_writer import scalar
from stockman.model.errors import Refused
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

PATH = "kubernetes/apps/kustomization.yaml"
_KEY = "resources"
_DASH = pattern(r"[ \t]*-[ \t]+")


def with_entries(text: str, entries: Iterable[str]) -> str:
    """The file with the entries that it lacks at the end of its resources.

    Refuses a file that cannot be read, and one whose resources cannot be told apart from the rest.
    """
    tree = _tree(text)
    resources = tree.get(_KEY)
    items = resources.items if isinstance(resources, Sequence) else []
    known = {posixpath.normpath(item.text) for item in items if isinstance(item, Scalar)}
    missing = [one for one in entries if posixpath.normpath(one) not in known]
    if not missing:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    made = _extended(text, tree, missing, end)
    wanted = {**_plain(tree), _KEY: [*(untyped(item) for item in items), *missing]}
    try:
        same = _plain(read_yaml(PATH, made)) == wanted
    except Unreadable:
        same = False
    if not same:
        raise Refused(_puzzling("its resources are written in an unusual way"))
    return made


def entries_of(text: str) -> frozenset[str]:
    """The resources that a list names, without `./`; nothing where it cannot be read."""
    try:
        resources = read_yaml(PATH, text).get(_KEY)
    except Unreadable:
        return frozenset()
    items = resources.items if isinstance(resources, Sequence) else []
    return frozenset(posixpath.normpath(item.text) for item in items if isinstance(item, Scalar))


def _extended(text: str, tree: Mapping, missing: list[str], end: str) -> str:
    resources = tree.get(_KEY)
    if isinstance(resources, Sequence) and resources.items:
        last = resources.items[-1]
        if not isinstance(last, Scalar):
            raise Refused(_puzzling("the last of its resources is no path"))
        dash = _DASH.match(_line(text, last.span[0]))
        if dash is None or text[_offset(text, resources)] == "[":
            stop = last.span[1]
            return text[:stop] + "".join(f", {scalar(one)}" for one in missing) + text[stop:]
        return _after(text, last.span[1], [f"{dash[0]}{scalar(one)}" for one in missing], end)
    lines = [f"  - {scalar(one)}" for one in missing]
    if isinstance(resources, Sequence):
        start = _offset(text, resources)
        stop = text.index("]", start)
        return text[: start + 1] + ", ".join(map(scalar, missing)) + text[stop:]
    entry = tree.entries.get(_KEY)
    if entry is not None:
        return _after(text, entry.key.span[1], lines, end)
    return _after(text, len(text), [f"{_KEY}:", *lines], end)


def _after(text: str, offset: int, lines: list[str], end: str) -> str:
    """The text with lines put in after the line of a character."""
    stop = text.find("\n", offset)
    added = "".join(f"{line}{end}" for line in lines)
    if stop >= 0:
        return text[: stop + 1] + added + text[stop + 1 :]
    return text + ("" if text.endswith("\n") or not text else end) + added


def _line(text: str, offset: int) -> str:
    """The line of a character."""
    start = text.rfind("\n", 0, offset) + 1
    stop = text.find("\n", offset)
    return text[start : stop if stop >= 0 else len(text)]


def _offset(text: str, sequence: Sequence) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: sequence.at.line - 1])) + sequence.at.column - 1


def _plain(tree: Mapping) -> dict[str, object]:
    return {key: untyped(entry.value) for key, entry in tree.entries.items()}


def _tree(text: str) -> Mapping:
    try:
        return read_yaml(PATH, text)
    except Unreadable as unreadable:
        raise Refused(unreadable.problem) from None


def _puzzling(why: str) -> Problem:
    return Problem(
        code="render.own-kustomization",
        what=f"{PATH} cannot be extended",
        where=PATH,
        why=why,
        fix="write its resources as a list with one path in a line",
    )
