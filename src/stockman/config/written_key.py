"""One key of a YAML file given a value, with everything else left as it was written."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.config.source.tree import Mapping, Node, Scalar
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.yaml_text import scalar

_INDENT = 2


class NotWritable(Exception):
    """The file is written in a way in which the key has no obvious place."""


def with_key(text: str, path: str, value: str) -> str:
    """The text in which the key at a dotted path has a value; it is added where it is missing."""
    names = path.split(".")
    root = read_yaml("", text)
    found, depth = _deepest(root, names)
    if isinstance(found, Scalar) and depth == len(names):
        start, stop = found.span
        made = text[:start] + scalar(value) + text[stop:]
    elif isinstance(found, Mapping) and depth < len(names):
        made = _added(text, root, names, depth, value)
    else:
        raise NotWritable(path)
    if written_value(made, path) != value:
        raise NotWritable(path)
    return made


def written_value(text: str, path: str) -> str | None:
    """What is written at a dotted path. None: nothing, or nothing simple."""
    names = path.split(".")
    found, depth = _deepest(read_yaml("", text), names)
    return found.text if isinstance(found, Scalar) and depth == len(names) else None


def _deepest(root: Mapping, names: Sequence[str]) -> tuple[Node, int]:
    """How far a path leads: what is there, and how many of its names were found."""
    node: Node = root
    for depth, name in enumerate(names):
        below = node.get(name) if isinstance(node, Mapping) else None
        if below is None:
            return node, depth
        node = below
    return node, len(names)


def _added(text: str, root: Mapping, names: Sequence[str], depth: int, value: str) -> str:
    lines = text.splitlines(keepends=True)
    if depth == 0:
        end = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{end}\n{_nested(names, value, 0)}"
    parent, _ = _deepest(root, names[: depth - 1])
    if not isinstance(parent, Mapping):
        raise NotWritable(".".join(names))
    entry = parent.entries[names[depth - 1]]
    below = entry.value
    first = next(iter(below.entries.values()), None) if isinstance(below, Mapping) else None
    if first is None or first.key.at.line == entry.key.at.line:
        raise NotWritable(".".join(names))
    number = entry.key.at.line
    added = _nested(names[depth:], value, first.key.at.column - 1)
    return "".join((*lines[:number], added, *lines[number:]))


def _nested(names: Sequence[str], value: str, column: int) -> str:
    """A key with those around it, one a line."""
    *around, last = names
    lines = [f"{' ' * (column + _INDENT * step)}{name}:\n" for step, name in enumerate(around)]
    lines.append(f"{' ' * (column + _INDENT * len(around))}{last}: {scalar(value)}\n")
    return "".join(lines)
