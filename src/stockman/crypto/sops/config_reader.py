"""Parse `.sops.yaml` into a tree with positions. Unlike secret files it may contain anchors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from stockman.crypto.sops import problems
from stockman.crypto.sops.scalars import resolve_scalar
from stockman.crypto.sops.tree import (
    MAX_DEPTH,
    ParsedFile,
    SopsDocument,
    SopsEntry,
    SopsMapping,
    SopsNode,
    SopsScalar,
    SopsSequence,
)
from stockman.model.origin import Position

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "tag:yaml.org,2002:merge"
_MAX_NODES = 50_000
"""Values of a file, each alias counted as what it stands for."""


def read_config_yaml(file: str, text: str) -> ParsedFile:
    """Parse a configuration file of SOPS; raises with position and reason."""
    try:
        root = next(yaml.compose_all(text, Loader=_LOADER), None)
    except yaml.reader.ReaderError:
        raise problems.bad_syntax(file, "it holds a character that YAML does not allow") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Position(file, mark.line + 1, mark.column + 1) if mark else file
        raise problems.bad_syntax(where, str(error.problem or error.context)) from None
    except RecursionError:
        raise problems.bad_syntax(file, "it is nested too deeply") from None
    if root is None or (isinstance(root, yaml.ScalarNode) and not root.value):
        return ParsedFile(file, text, [])
    reader = _ConfigReader(file)
    node = reader.read(root, 0)
    if not isinstance(node, SopsMapping):
        raise problems.bad_syntax(file, "it is no mapping")
    return ParsedFile(file, text, [SopsDocument(node, len(text))])


class _ConfigReader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0

    def read(self, node: yaml.Node, depth: int) -> SopsNode:
        self._count += 1
        if depth > MAX_DEPTH or self._count > _MAX_NODES:
            raise problems.bad_syntax(self._at(node), "it is nested too deeply, or too long")
        start, column = int(node.start_mark.index), int(node.start_mark.column)
        if isinstance(node, yaml.ScalarNode):
            return SopsScalar(self._value(node), start, int(node.end_mark.index))
        if isinstance(node, yaml.SequenceNode):
            sequence = SopsSequence(start, column)
            sequence.items += [self.read(item, depth + 1) for item in node.value]
            return sequence
        mapping = SopsMapping(start, column)
        for key, value in self._entries(node, depth):
            if mapping.entry(key.value) is None:
                entry = SopsEntry(key.value, int(key.start_mark.index), self.read(value, depth + 1))
                mapping.items.append(entry)
        return mapping

    def _entries(self, node: yaml.Node, depth: int) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        """Return the entries of a mapping, then those that `<<` merges into it."""
        if not isinstance(node, yaml.MappingNode) or depth > MAX_DEPTH:
            raise problems.bad_syntax(self._at(node), "`<<` merges something that is no mapping")
        known: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise problems.bad_syntax(self._at(key), "a key is no text")
            if key.tag == _MERGE:
                continue
            if key.value in known:
                raise problems.duplicate_key(self._at(key), key.value)
            known.add(key.value)
            yield key, value
        for key, value in node.value:
            if key.tag == _MERGE:
                merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for item in merged:
                    yield from self._entries(item, depth + 1)

    def _value(self, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 - a value of YAML
        if node.style not in (None, ""):
            return str(node.value)
        try:
            return resolve_scalar(node.value)
        except ValueError as error:
            raise problems.bad_syntax(self._at(node), str(error)) from None

    def _at(self, node: yaml.Node) -> Position:
        return Position(self._file, node.start_mark.line + 1, node.start_mark.column + 1)
