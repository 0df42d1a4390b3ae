"""A YAML tree to a tree of Talos' types, as strict as Talos' own loader."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Origin
from stockman.model.secret import Secret
from stockman.talos.patches import encode
from stockman.talos.patches.patch import InvalidValue, path_text
from stockman.talos.patches.scalars import (
    ScalarValue,
    as_bool,
    duration_text,
    parse_nanoseconds,
    resolve_scalar,
)
from stockman.talos.patches.schema import NUMBERS, SchemaType, TypeSchema
from stockman.talos.patches.tree import Branch, Items, Leaf, TracedScalar, Tree

Path = tuple[str | int, ...]
_MERGE = "<<"
_BEFORE_CONTENTS = "\t\n\v\f\r"
_INTEGERS_ONLY_SINCE = 13
"""The first minor that refuses a fraction as a whole number and `{}` as an empty text, and takes 0
for a time span."""
_STRICTER_SINCE = 14
"""The first minor that refuses nulls in lists of pointers, and moments as texts."""


class Decoder:
    """Decodes documents of one minor; `origin` says where a node was written."""

    def __init__(self, table: TypeSchema, origin: Callable[[TreeNode, Path], Origin]) -> None:
        self._table = table
        self._origin = origin

    def decode(self, type_: SchemaType, node: TreeNode, path: Path = ()) -> Tree | None:
        """The value of a node. None: the zero value, or nothing at all."""
        if type_.kind == "pointer":
            return self.decode(type_.element, node, path)
        if isinstance(node, ScalarNode) and node.is_null and type_.kind != "any":
            return None
        if type_.codec and not (type_.codec.startswith("x509.") or type_.kind in ("list", "map")):
            return self._coded(type_, node, path)
        if type_.kind == "any":
            return self._anything(node, path)
        if type_.kind == "struct":
            return self._struct(type_, node, path)
        if type_.kind == "list":
            return self._list(type_, node, path)
        if type_.kind == "map":
            return self._map(type_, node, path)
        return self._scalar(type_, node, path)

    def _struct(self, type_: SchemaType, node: TreeNode, path: Path) -> Branch:
        if not isinstance(node, MappingNode):
            raise self._misfit(node, path, "a mapping of keys is needed here")
        branch = Branch(self._origin(node, path))
        for key, entry in node.entries.items():
            here = (*path, key)
            field = type_.named.get(key)
            if field is not None:
                value = self.decode(field.type, entry.value, here)
            elif type_.free is not None:
                value = self._value_of(type_.free.element, entry.value, here)
            else:
                raise unknown_field_error(entry.key, here, type_)
            if value is not None:
                branch[key] = value
        return _normalize_certificates(branch, node) if type_.codec else branch

    def _list(self, type_: SchemaType, node: TreeNode, path: Path) -> Items:
        if not isinstance(node, SequenceNode):
            raise self._misfit(node, path, "a list is needed here")
        items = Items(self._origin(node, path))
        for index, item in enumerate(node.items):
            value = self._item(type_.element, item, (*path, index))
            if value is not None:
                items.append(value)
        if type_.name.endswith(".ClusterInlineManifests"):
            _trim_contents(items)
        return items

    def _item(self, element: SchemaType, node: TreeNode, path: Path) -> Tree | None:
        value = self.decode(element, node, path)
        if value is None and element.kind in ("pointer", "any", "map", "list"):
            self._refuse_null(element, node, path)
            return Leaf(None, self._origin(node, path))
        return value

    def _map(self, type_: SchemaType, node: TreeNode, path: Path) -> Branch:
        if not isinstance(node, MappingNode):
            raise self._misfit(node, path, "a mapping of keys is needed here")
        branch = Branch(self._origin(node, path))
        for key, entry in node.entries.items():
            if key == _MERGE and entry.key.plain:
                continue
            branch[key] = self._value_of(type_.element, entry.value, (*path, key))
        for source in _merge_sources(node):
            for key, item in self._map(type_, source, path).items():
                branch.setdefault(key, item)
        return branch

    def _value_of(self, element: SchemaType, node: TreeNode, path: Path) -> Tree:
        """A value of a map, where the zero value is written out."""
        value = self.decode(element, node, path)
        if value is not None:
            return value
        self._refuse_null(element, node, path)
        origin = self._origin(node, path)
        if element.kind == "struct" and not element.codec:
            return Branch(origin)
        return Leaf(_ZERO_VALUES.get(element.kind), origin)

    def _refuse_null(self, element: SchemaType, node: TreeNode, path: Path) -> None:
        if element.kind == "pointer" and self._table.number >= _STRICTER_SINCE:
            raise self._misfit(node, path, "a null is not allowed here")

    def _coded(self, type_: SchemaType, node: TreeNode, path: Path) -> Tree:
        is_lax = type_.is_text and type_.kind == "struct" and type_.minor < _INTEGERS_ONLY_SINCE
        if is_lax and _is_empty_mapping(node):
            return Leaf("", self._origin(node, path))
        if type_.name.endswith(".ArgValue"):
            return self._argument(node, path)
        if not isinstance(node, ScalarNode):
            raise self._misfit(node, path, "one value is needed here")
        try:
            if type_.name.endswith(".PortRange"):
                ports = encode.parse_ports(_parse_number("uint16", _resolve_node(node)), node.text)
                return Leaf(ports, self._origin(node, path))
            return self._leaf(encode.format_value(type_, node.text), node, path)
        except ValueError as error:
            raise self._misfit(node, path, str(error)) from None

    def _argument(self, node: TreeNode, path: Path) -> Tree:
        if isinstance(node, ScalarNode):
            return self._leaf(node.text, node, path)
        if isinstance(node, SequenceNode) and all(
            isinstance(one, ScalarNode) for one in node.items
        ):
            return self._list(self._table.type("[]string"), node, path)
        raise self._misfit(node, path, "a text or a list of texts is needed here")

    def _anything(self, node: TreeNode, path: Path) -> Tree:
        if isinstance(node, MappingNode):
            return self._map(self._table.type("map[string]any"), node, path)
        if isinstance(node, SequenceNode):
            return Items(
                self._origin(node, path),
                [self._anything(item, (*path, at)) for at, item in enumerate(node.items)],
            )
        return self._leaf(_resolve_node(node), node, path)

    def _scalar(self, type_: SchemaType, node: TreeNode, path: Path) -> Leaf:
        if not isinstance(node, ScalarNode):
            raise self._misfit(node, path, "one value is needed here, not a mapping or list")
        value = self._scalar_of(type_, node)
        if value is None:
            raise self._misfit(
                node, path, f"{_EXPECTED_TEXT.get(type_.kind, 'a whole number')} is needed"
            )
        return self._leaf(value, node, path)

    def _leaf(self, value: object, node: ScalarNode, path: Path) -> Leaf:
        """A value and its origin; what was secret stays so."""
        if isinstance(node, TracedScalar) and node.secret is not None:
            value = node.secret if value == node.text else Secret(str(value))
        return Leaf(value, self._origin(node, path))

    def _scalar_of(self, type_: SchemaType, node: ScalarNode) -> object:
        """The value of a scalar. None: it does not fit."""
        value = _resolve_node(node)
        minor = self._table.number
        if type_.kind in ("string", "bytes"):
            return None if minor >= _STRICTER_SINCE and isinstance(value, datetime) else node.text
        if type_.kind == "bool":
            return as_bool(value, node.text)
        if type_.kind == "duration":
            return _parse_duration(value, minor)
        return _parse_number(type_.kind, value, whole_only=minor >= _INTEGERS_ONLY_SINCE)

    def _misfit(self, node: TreeNode, path: Path, why: str) -> InvalidValue:
        return InvalidValue(
            code="patch.value",
            what=f"the value of {path_text(path)} does not fit",
            why=why,
            fix=f"write a value that Talos {self._table.minor} takes for {path_text(path)}",
            at=node.at,
        )


_ZERO_VALUES: dict[str, object] = {"string": "", "bool": False, "struct": ""} | dict.fromkeys(
    NUMBERS, 0
)
_EXPECTED_TEXT = {"string": "a text", "bool": "true or false", "duration": "a time such as 90s"}


def _parse_number(kind: str, value: ScalarValue, *, whole_only: bool = False) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    least, greatest = NUMBERS[kind]
    try:
        whole = int(value)
    except (ValueError, OverflowError):
        return None
    if whole_only and whole != value:
        return None
    return whole if least <= whole <= greatest else None


def _parse_duration(value: ScalarValue, minor: int) -> str | None:
    if isinstance(value, str):
        try:
            return duration_text(parse_nanoseconds(value))
        except ValueError:
            return None
    if isinstance(value, float) and value.is_integer() and minor >= _STRICTER_SINCE:
        return duration_text(int(value))  # Talos takes 5.0 for nanoseconds, and refuses 5.
    is_nought = isinstance(value, int) and not isinstance(value, bool) and value == 0
    return "0s" if is_nought and minor >= _INTEGERS_ONLY_SINCE else None


def _resolve_node(node: ScalarNode) -> ScalarValue:
    return resolve_scalar(node.text) if node.plain else node.text


def _is_empty_mapping(node: TreeNode) -> bool:
    return isinstance(node, MappingNode) and not node.entries


def _merge_sources(node: MappingNode) -> list[MappingNode]:
    """Mappings that `<<` brings in, the one that wins first."""
    entry = node.entries.get(_MERGE)
    if entry is None or not entry.key.plain:
        return []
    found = entry.value.items if isinstance(entry.value, SequenceNode) else [entry.value]
    return [one for one in found if isinstance(one, MappingNode)]


def _normalize_certificates(branch: Branch, node: MappingNode) -> Branch:
    """Certificates and keys in one spelling; one that is absent is empty, and that is a value."""
    for key in ("crt", "key"):
        leaf = branch.get(key)
        if not isinstance(leaf, Leaf) or leaf.value == encode.REDACTED:
            continue
        if isinstance(leaf.value, Secret):
            continue
        try:
            branch[key] = Leaf(encode.normalize_base64(str(leaf.value)), leaf.origin)
        except ValueError as error:
            raise InvalidValue(
                code="patch.value",
                what=f"the value of {key} does not fit",
                why=str(error),
                fix="write the PEM text in base64",
                at=node.entries[key].value.at,
            ) from None
    return branch


def _trim_contents(items: Items) -> None:
    for item in items:
        contents = item.get("contents") if isinstance(item, Branch) else None
        if isinstance(item, Branch) and isinstance(contents, Leaf):
            item["contents"] = Leaf(_trim_value(contents.value), contents.origin)


def _trim_value(value: object) -> object:
    if isinstance(value, Secret):
        text = value.reveal().lstrip(_BEFORE_CONTENTS)
        return value if text == value.reveal() else Secret(text)
    return str(value).lstrip(_BEFORE_CONTENTS)


def unknown_field_error(key: ScalarNode, path: Path, type_: SchemaType) -> InvalidValue:
    known = ", ".join(list(type_.named)[:12])
    return InvalidValue(
        code="patch.field",
        what=f"{path_text(path)} is no field that Talos knows",
        why=f"known here are {known}" if known else "nothing may stand here",
        fix="check the spelling and the place of the key",
        at=key.at,
    )
