"""Convert trees to written values in the types of their keys, with the user's comments.

Texts keep their spelling. Nothing is inherited, derived or completed.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import replace

from stockman.config.classic import CLASSIC_KEYS
from stockman.config.comments import Comments
from stockman.config.convert.output import LostItem
from stockman.config.language import MACHINE_SECTIONS, Configuration
from stockman.config.reference.key_types import (
    AnyType,
    KeyType,
    ListOf,
    MapOf,
    RecordType,
    ValueType,
    record_keys,
)
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.config.writers.yaml_writer import Commented
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.secret import is_encrypted

NUMBERS_WRITTEN_AS_TEXT = frozenset(
    {"network.vlan_tag", "cilium.bgp.router_asn", "cilium.bgp.node_asn"}
)
"""Other tools that read these files expect these numbers in quotes."""

_NUMBER = pattern(r"-?(0|[1-9][0-9]*)")
_FLAGS = {"true": True, "false": False}
_ENCRYPTED_REASON = "its encryption is bound to the file and the key that it stands in"
_EDITOR_REASON = "it names the schema of this file; `stockman schema` knows that of the other"
NO_VALUE = "it has no value, and TOML has no empty keys"


class _Dropped(Exception):
    """The value was dropped, which is already recorded."""


class TreeConverter:
    """Converts values and comments of trees, and records what is lost."""

    def __init__(self, comments: Map[str, Comments], *, to_toml: bool) -> None:
        self._comments = comments
        self._to_toml = to_toml
        self.lost: list[LostItem] = []

    def convert_sections(self, tree: MappingNode) -> dict[str, Commented]:
        """Convert the sections of a tree."""
        return self._convert_record(Configuration, tree, "")

    def report_lost(self, key: str, at: Position, reason: str) -> None:
        """Record something that is missing in the result."""
        self.lost.append(LostItem(key=key, at=at, reason=reason))

    def take_comments(self, key: ScalarNode) -> Commented:
        """Return and remove the comments of a key."""
        return self._comments[key.at.file].take_key(key.at)

    def report_lost_comments(self) -> None:
        """Record comments that were not converted."""
        for file, comments in self._comments.items():
            for line in comments.editor_lines:
                self.report_lost("a comment", Position(file, line, 1), _EDITOR_REASON)
            for at, _ in comments.remaining():
                self.report_lost("a comment", at, "what it belongs to is not carried")

    def _convert_record(self, cls: type, mapping: MappingNode, path: str) -> dict[str, Commented]:
        kinds = {member.name: member.type for member in record_keys(cls)}
        values: dict[str, Commented] = {}
        for name, entry in mapping.entries.items():
            inner = f"{path}.{name}" if path else name
            known = entry.name or inner
            if name not in kinds:
                self.report_lost(known, entry.key.at, "it is not a key of the language")
            elif isinstance(entry.value, ScalarNode) and entry.value.is_null:
                if self._to_toml:
                    self.report_lost(known, entry.key.at, NO_VALUE)
            else:
                self._convert_entry(values, name, entry, kinds[name], inner)
        return values

    def _convert_entry(
        self, values: dict[str, Commented], name: str, entry: MappingEntry, kind: KeyType, path: str
    ) -> None:
        try:
            value = self._convert_value(kind, entry.value, path, entry.name or path)
        except _Dropped:
            return
        if _is_user_key(name, entry, path):
            values[name] = replace(self._take_entry_comments(entry, path), value=value)
        elif not isinstance(value, dict | list) or value:
            values[name] = Commented(value=value)  # a section that only flat keys speak of

    def _take_entry_comments(self, entry: MappingEntry, path: str) -> Commented:
        comments = self.take_comments(entry.key)
        is_table = not isinstance(entry.value, ScalarNode) and "." in path
        return replace(comments, above=_without_gap(comments.above) if is_table else comments.above)

    def _convert_value(self, kind: KeyType, node: TreeNode, path: str, known: str) -> object:
        if isinstance(node, ScalarNode) and is_encrypted(node.text):
            self.report_lost(known, node.at, _ENCRYPTED_REASON)
            raise _Dropped
        match kind, node:
            case ValueType(), ScalarNode():
                return _typed_value(kind, node.text, path)
            case RecordType(), MappingNode():
                return self._convert_record(kind.cls, node, path)
            case ListOf(), SequenceNode():
                return self._convert_list(kind.item, node, path, known)
            case MapOf(), MappingNode():
                return self._convert_map(kind.value, node, path)
        return self._convert_any(node, known)

    def _convert_list(
        self, kind: KeyType, node: SequenceNode, path: str, known: str
    ) -> list[Commented]:
        items = []
        for index, item in enumerate(node.items):
            try:
                value = self._convert_value(kind, item, f"{path}[{index}]", f"{known}[{index}]")
            except _Dropped:
                continue
            comments = self._comments[item.at.file].take_item(item.at)
            if not isinstance(item, ScalarNode) and path not in MACHINE_SECTIONS:
                comments = replace(comments, above=_without_gap(comments.above))
            items.append(replace(comments, value=value))
        return items

    def _convert_map(self, kind: KeyType, node: MappingNode, path: str) -> dict[str, Commented]:
        values: dict[str, Commented] = {}
        for name, entry in node.entries.items():
            self._convert_entry(values, name, entry, kind, f"{path}.{name}")
        return values

    def _convert_any(self, node: TreeNode, known: str) -> object:
        if isinstance(node, MappingNode):
            return self._convert_map(AnyType(), node, known)
        if isinstance(node, SequenceNode):
            return self._convert_list(AnyType(), node, known, known)
        value = to_plain_data(node)
        if value is None and self._to_toml:
            self.report_lost(known, node.at, NO_VALUE)
            raise _Dropped
        return value


def _is_user_key(name: str, entry: MappingEntry, path: str) -> bool:
    """Return whether the user wrote this key for the entry."""
    key = entry.key.text
    stands_for_item = CLASSIC_KEYS.get(key) == f"{path}[0]"
    return stands_for_item or key in (name, entry.name.rpartition(".")[2])


def _typed_value(kind: ValueType, text: str, path: str) -> object:
    if kind.base is bool:
        return _FLAGS.get(text.lower(), text)
    if kind.base is int and _NUMBER.fullmatch(text) and path not in NUMBERS_WRITTEN_AS_TEXT:
        return int(text)
    return text


def _without_gap(above: tuple[str, ...]) -> tuple[str, ...]:
    return above[1:] if above[:1] == ("",) else above
