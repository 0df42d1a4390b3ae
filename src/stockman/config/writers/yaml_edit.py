"""Set one key of a YAML file and keep everything else unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.config.source.tree import MappingNode, ScalarNode, TreeNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import format_scalar

_INDENT = 2


class NotWritable(Exception):
    """The file has a form in which the key cannot be set safely."""


def set_key(text: str, path: str, value: str) -> str:
    """Set the key at a dotted path; it is added if it is missing."""
    names = path.split(".")
    root = read_yaml("", text)
    node, depth = _find_deepest(root, names)
    if isinstance(node, ScalarNode) and depth == len(names):
        start, stop = node.span
        edited = text[:start] + format_scalar(value) + text[stop:]
    elif isinstance(node, MappingNode) and depth < len(names):
        edited = _add_key(text, root, names, depth, value)
    else:
        raise NotWritable(path)
    if read_key(edited, path) != value:
        raise NotWritable(path)
    return edited


def read_key(text: str, path: str) -> str | None:
    """Return the value at a dotted path. None: missing, or not a single value."""
    names = path.split(".")
    node, depth = _find_deepest(read_yaml("", text), names)
    return node.text if isinstance(node, ScalarNode) and depth == len(names) else None


def _find_deepest(root: MappingNode, names: Sequence[str]) -> tuple[TreeNode, int]:
    """Return the deepest existing node of a path, and the number of its keys."""
    node: TreeNode = root
    for depth, name in enumerate(names):
        below = node.get(name) if isinstance(node, MappingNode) else None
        if below is None:
            return node, depth
        node = below
    return node, len(names)


def _add_key(text: str, root: MappingNode, names: Sequence[str], depth: int, value: str) -> str:
    lines = text.splitlines(keepends=True)
    if depth == 0:
        end = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{end}\n{_nested_lines(names, value, 0)}"
    parent, _ = _find_deepest(root, names[: depth - 1])
    if not isinstance(parent, MappingNode):
        raise NotWritable(".".join(names))
    entry = parent.entries[names[depth - 1]]
    below = entry.value
    first = next(iter(below.entries.values()), None) if isinstance(below, MappingNode) else None
    if first is None or first.key.at.line == entry.key.at.line:
        raise NotWritable(".".join(names))
    number = entry.key.at.line
    added = _nested_lines(names[depth:], value, first.key.at.column - 1)
    return "".join((*lines[:number], added, *lines[number:]))


def _nested_lines(names: Sequence[str], value: str, column: int) -> str:
    """Return a key with its parents, one per line."""
    *parents, last = names
    lines = [f"{' ' * (column + _INDENT * step)}{name}:\n" for step, name in enumerate(parents)]
    lines.append(f"{' ' * (column + _INDENT * len(parents))}{last}: {format_scalar(value)}\n")
    return "".join(lines)
