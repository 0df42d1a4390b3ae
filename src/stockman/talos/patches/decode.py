"""Decode YAML to documents of Talos' types, as strictly as Talos does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from stockman.model.origin import Origin
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.patches import encode
from stockman.talos.patches.encode import encode_tree
from stockman.talos.patches.patch import InvalidValue, path_text
from stockman.talos.patches.scalars import (
    ScalarValue,
    as_bool,
    duration_text,
    parse_nanoseconds,
    resolve_scalar,
)
from stockman.talos.patches.schema import (
    NUMBERS,
    Branch,
    DocumentKind,
    Items,
    Leaf,
    SchemaType,
    TracedScalar,
    Tree,
    TypeSchema,
    iter_leaves,
)

Path = tuple[str | int, ...]
_MERGE = "<<"
_BEFORE_CONTENTS = "\t\n\v\f\r"
_INTEGERS_ONLY_SINCE = 13
"""The first minor that refuses fractions as whole numbers and `{}` as an empty text, and accepts
0 for a duration."""
_STRICTER_SINCE = 14
"""The first minor that refuses nulls in lists of pointers, and timestamps as texts."""


class Decoder:
    """Decodes documents of one minor; `origin` returns where a node was written."""

    def __init__(self, schema: TypeSchema, origin: Callable[[TreeNode, Path], Origin]) -> None:
        self._schema = schema
        self._origin = origin

    def decode(self, type_: SchemaType, node: TreeNode, path: Path = ()) -> Tree | None:
        """Return the value of a node. None: the zero value, or nothing."""
        if type_.kind == "pointer":
            return self.decode(type_.element, node, path)
        if isinstance(node, ScalarNode) and node.is_null and type_.kind != "any":
            return None
        if type_.codec and not (type_.codec.startswith("x509.") or type_.kind in ("list", "map")):
            return self._decode_custom(type_, node, path)
        if type_.kind == "any":
            return self._decode_any(node, path)
        if type_.kind == "struct":
            return self._decode_struct(type_, node, path)
        if type_.kind == "list":
            return self._decode_list(type_, node, path)
        if type_.kind == "map":
            return self._decode_map(type_, node, path)
        return self._decode_scalar(type_, node, path)

    def _decode_struct(self, type_: SchemaType, node: TreeNode, path: Path) -> Branch:
        if not isinstance(node, MappingNode):
            raise self._error(node, path, "a mapping of keys is required")
        branch = Branch(self._origin(node, path))
        for key, entry in node.entries.items():
            field_path = (*path, key)
            field = type_.named.get(key)
            if field is not None:
                value = self.decode(field.type, entry.value, field_path)
            elif type_.free is not None:
                value = self._map_value(type_.free.element, entry.value, field_path)
            else:
                raise unknown_field_error(entry.key, field_path, type_)
            if value is not None:
                branch[key] = value
        return _normalize_certificates(branch, node) if type_.codec else branch

    def _decode_list(self, type_: SchemaType, node: TreeNode, path: Path) -> Items:
        if not isinstance(node, SequenceNode):
            raise self._error(node, path, "a list is required")
        items = Items(self._origin(node, path))
        for index, item in enumerate(node.items):
            value = self._decode_item(type_.element, item, (*path, index))
            if value is not None:
                items.append(value)
        if type_.name.endswith(".ClusterInlineManifests"):
            _trim_contents(items)
        return items

    def _decode_item(self, element: SchemaType, node: TreeNode, path: Path) -> Tree | None:
        value = self.decode(element, node, path)
        if value is None and element.kind in ("pointer", "any", "map", "list"):
            self._refuse_null(element, node, path)
            return Leaf(None, self._origin(node, path))
        return value

    def _decode_map(self, type_: SchemaType, node: TreeNode, path: Path) -> Branch:
        if not isinstance(node, MappingNode):
            raise self._error(node, path, "a mapping of keys is required")
        branch = Branch(self._origin(node, path))
        for key, entry in node.entries.items():
            if key == _MERGE and entry.key.plain:
                continue
            branch[key] = self._map_value(type_.element, entry.value, (*path, key))
        for source in _merge_sources(node):
            for key, item in self._decode_map(type_, source, path).items():
                branch.setdefault(key, item)
        return branch

    def _map_value(self, element: SchemaType, node: TreeNode, path: Path) -> Tree:
        """Return a value of a map, where zero values are explicit."""
        value = self.decode(element, node, path)
        if value is not None:
            return value
        self._refuse_null(element, node, path)
        origin = self._origin(node, path)
        if element.kind == "struct" and not element.codec:
            return Branch(origin)
        return Leaf(_ZERO_VALUES.get(element.kind), origin)

    def _refuse_null(self, element: SchemaType, node: TreeNode, path: Path) -> None:
        if element.kind == "pointer" and self._schema.number >= _STRICTER_SINCE:
            raise self._error(node, path, "null is not allowed")

    def _decode_custom(self, type_: SchemaType, node: TreeNode, path: Path) -> Tree:
        is_lax = type_.is_text and type_.kind == "struct" and type_.minor < _INTEGERS_ONLY_SINCE
        if is_lax and _is_empty_mapping(node):
            return Leaf("", self._origin(node, path))
        if type_.name.endswith(".ArgValue"):
            return self._decode_argument(node, path)
        if not isinstance(node, ScalarNode):
            raise self._error(node, path, "a single value is required")
        try:
            if type_.name.endswith(".PortRange"):
                ports = encode.parse_ports(_parse_number("uint16", _resolve_node(node)), node.text)
                return Leaf(ports, self._origin(node, path))
            return self._leaf(encode.format_value(type_, node.text), node, path)
        except ValueError as error:
            raise self._error(node, path, str(error)) from None

    def _decode_argument(self, node: TreeNode, path: Path) -> Tree:
        if isinstance(node, ScalarNode):
            return self._leaf(node.text, node, path)
        if isinstance(node, SequenceNode) and all(
            isinstance(item, ScalarNode) for item in node.items
        ):
            return self._decode_list(self._schema.type("[]string"), node, path)
        raise self._error(node, path, "a text or a list of texts is required")

    def _decode_any(self, node: TreeNode, path: Path) -> Tree:
        if isinstance(node, MappingNode):
            return self._decode_map(self._schema.type("map[string]any"), node, path)
        if isinstance(node, SequenceNode):
            return Items(
                self._origin(node, path),
                [self._decode_any(item, (*path, at)) for at, item in enumerate(node.items)],
            )
        return self._leaf(_resolve_node(node), node, path)

    def _decode_scalar(self, type_: SchemaType, node: TreeNode, path: Path) -> Leaf:
        if not isinstance(node, ScalarNode):
            raise self._error(node, path, "a single value is required, not a mapping or list")
        value = self._scalar_of(type_, node)
        if value is None:
            raise self._error(
                node, path, f"{_EXPECTED_TEXT.get(type_.kind, 'a whole number')} is required"
            )
        return self._leaf(value, node, path)

    def _leaf(self, value: object, node: ScalarNode, path: Path) -> Leaf:
        """Return a value with its origin; secrets stay secret."""
        if isinstance(node, TracedScalar) and node.secret is not None:
            value = node.secret if value == node.text else Secret(str(value))
        return Leaf(value, self._origin(node, path))

    def _scalar_of(self, type_: SchemaType, node: ScalarNode) -> object:
        """Return the value of a scalar. None: it is invalid."""
        value = _resolve_node(node)
        minor = self._schema.number
        if type_.kind in ("string", "bytes"):
            return None if minor >= _STRICTER_SINCE and isinstance(value, datetime) else node.text
        if type_.kind == "bool":
            return as_bool(value, node.text)
        if type_.kind == "duration":
            return _parse_duration(value, minor)
        return _parse_number(type_.kind, value, whole_only=minor >= _INTEGERS_ONLY_SINCE)

    def _error(self, node: TreeNode, path: Path, why: str) -> InvalidValue:
        return InvalidValue(
            code="patch.value",
            what=f"the value of {path_text(path)} is invalid",
            why=why,
            fix=f"use a value that Talos {self._schema.minor} accepts for {path_text(path)}",
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
        number = int(value)
    except (ValueError, OverflowError):
        return None
    if whole_only and number != value:
        return None
    return number if least <= number <= greatest else None


def _parse_duration(value: ScalarValue, minor: int) -> str | None:
    if isinstance(value, str):
        try:
            return duration_text(parse_nanoseconds(value))
        except ValueError:
            return None
    if isinstance(value, float) and value.is_integer() and minor >= _STRICTER_SINCE:
        return duration_text(int(value))  # Talos takes 5.0 for nanoseconds, and refuses 5.
    is_zero = isinstance(value, int) and not isinstance(value, bool) and value == 0
    return "0s" if is_zero and minor >= _INTEGERS_ONLY_SINCE else None


def _resolve_node(node: ScalarNode) -> ScalarValue:
    return resolve_scalar(node.text) if node.plain else node.text


def _is_empty_mapping(node: TreeNode) -> bool:
    return isinstance(node, MappingNode) and not node.entries


def _merge_sources(node: MappingNode) -> list[MappingNode]:
    """Return the mappings merged by `<<`, the highest precedence first."""
    entry = node.entries.get(_MERGE)
    if entry is None or not entry.key.plain:
        return []
    items = entry.value.items if isinstance(entry.value, SequenceNode) else [entry.value]
    return [item for item in items if isinstance(item, MappingNode)]


def _normalize_certificates(branch: Branch, node: MappingNode) -> Branch:
    """Normalize the base64 of certificates and keys; a missing one stays empty."""
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
                what=f"the value of {key} is invalid",
                why=str(error),
                fix="use the PEM text in base64",
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
        what=f"{path_text(path)} is not a field that Talos knows",
        why=f"the known fields are {known}" if known else "no fields are allowed here",
        fix="check the spelling and the position of the key",
        at=key.at,
    )


V1ALPHA1 = "v1alpha1"
_LEGACY_KEYS = frozenset({"machine", "cluster", "debug", "persist"})
_LINKS_CLAIMED = 14
"""The first minor that checks both names of a veth pair against other links."""

_NOT_COPIED = ("machine.baseRuntimeSpecOverrides", "cluster.apiServer.authorizationConfig[")
"""Free-form values of the v1alpha1 document that Talos shares instead of copying."""

DocumentIdentity = tuple[str, str, str | None]


@record
class ConfigDocument:
    """One document: its kind and its decoded fields."""

    kind: DocumentKind
    tree: Branch

    @property
    def api_version(self) -> str:
        return "" if self.kind.name == V1ALPHA1 else _text(self.tree, "apiVersion")

    @property
    def name(self) -> str:
        """Empty: the kind has no names, or the document has none."""
        return _text(self.tree, "name") if self.kind.is_named else ""

    @property
    def identity(self) -> DocumentIdentity:
        """apiVersion, kind, and the name if the kind has names."""
        return (self.api_version, self.kind.name, self.name if self.kind.is_named else None)

    @property
    def label(self) -> str:
        return f"{self.kind.name} {self.name}".rstrip()

    def canonical(self) -> Branch:
        """Return the fields as Talos prints them: in its order, with explicit zero values."""
        tree = encode_tree(self.kind.type, self.tree)
        return tree if isinstance(tree, Branch) else self.tree


def decode_document(schema: TypeSchema, node: MappingNode, decoder: Decoder) -> ConfigDocument:
    """Decode a document; raises InvalidValue if Talos would refuse it."""
    kind = _document_kind(schema, node)
    tree = decoder.decode(kind.type, node)
    if not isinstance(tree, Branch):
        raise InvalidValue(
            code="patch.kind",
            what="a document has no keys",
            why="it is empty",
            fix="remove it",
            at=node.at,
        )
    return ConfigDocument(kind=kind, tree=tree)


def _document_kind(schema: TypeSchema, node: MappingNode) -> DocumentKind:
    kind, version = raw_text(node, "kind"), raw_text(node, "apiVersion")
    if _LEGACY_KEYS & node.entries.keys():
        version = V1ALPHA1
    if not kind:
        if version == V1ALPHA1:
            return schema.kinds[V1ALPHA1]
        raise InvalidValue(
            code="patch.kind",
            what="a document has no kind",
            why="it has neither `kind` nor one of machine, cluster, debug and persist",
            fix="set `apiVersion: v1alpha1` and the `kind`",
            at=node.at,
        )
    document_kind = schema.kinds.get(kind)
    if document_kind is None or (version != V1ALPHA1 and kind != V1ALPHA1):
        at = node.entries["kind"].value.at
        raise InvalidValue(
            code="patch.kind",
            what=f"{version or 'no apiVersion'} {kind} is not a document of Talos {schema.minor}",
            why="Talos refuses unknown documents",
            fix="check apiVersion and kind, or the Talos version of the node",
            at=at,
        )
    return document_kind


def raw_text(node: TreeNode, key: str) -> str:
    """Return the text of a key before decoding."""
    value = node.get(key) if isinstance(node, MappingNode) else None
    if not isinstance(value, ScalarNode) or value.is_null:
        return ""
    return value.text


def combine_documents(
    documents: Iterable[ConfigDocument], schema: TypeSchema
) -> tuple[ConfigDocument, ...]:
    """Return the documents, v1alpha1 first; raises InvalidValue if two conflict."""
    first: list[ConfigDocument] = []
    others: list[ConfigDocument] = []
    seen: dict[tuple[str, str], ConfigDocument] = {}
    excluded: dict[tuple[str, str], ConfigDocument] = {}
    links: dict[str, ConfigDocument] = {}
    for document in documents:
        if document.kind.name == V1ALPHA1:
            if first:
                raise _conflict_error(document, first[0])
            first.append(document)
            continue
        key = (document.kind.name, document.name)
        conflicts = [(kind, document.name) for kind in document.kind.conflicts]
        for conflict in (seen.get(key), excluded.get(key), *(seen.get(kind) for kind in conflicts)):
            if conflict is not None:
                raise _conflict_error(document, conflict)
        seen[key] = document
        excluded.update(dict.fromkeys(conflicts, document))
        if schema.number >= _LINKS_CLAIMED and document.kind.is_link:
            _claim_link(document, links)
        others.append(document)
    return (*first, *others)


def check_no_timestamps(document: ConfigDocument) -> None:
    """Raise InvalidValue for an unquoted timestamp: Talos cannot copy such a document."""
    if not _has_timestamp(document.tree):
        return
    for path, leaf in iter_leaves(document.tree):
        if isinstance(leaf.value, datetime) and not (
            document.kind.name == V1ALPHA1 and path.startswith(_NOT_COPIED)
        ):
            raise InvalidValue(
                code="patch.value",
                what=f"the value of {path} is invalid",
                why="Talos reads it as a timestamp, which it cannot copy",
                fix="quote it",
                at=None if leaf.origin.is_derived else leaf.origin.at,
            )


def _has_timestamp(tree: Tree) -> bool:
    """Return whether a value is a timestamp, without the paths that `iter_leaves` computes."""
    waiting = [tree]
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, Leaf):
            if isinstance(tree.value, datetime):
                return True
        else:
            waiting.extend(tree.values() if isinstance(tree, Branch) else tree)
    return False


def _claim_link(document: ConfigDocument, links: dict[str, ConfigDocument]) -> None:
    peer = document.tree.get("peer")
    names = [document.name]
    if document.kind.name == "VethConfig":
        names.append(_text(peer, "name") if isinstance(peer, Branch) else "")
    for name in names:
        if name in links:
            raise _conflict_error(document, links[name])
        links[name] = document


def _conflict_error(document: ConfigDocument, existing: ConfigDocument) -> InvalidValue:
    return InvalidValue(
        code="patch.result",
        what=f"{document.label} and {existing.label} conflict in one configuration",
        why="Talos allows one document of a kind and name, and one kind of link per name",
        fix="remove one of them, or give it another name",
        at=None if document.tree.origin.is_derived else document.tree.origin.at,
    )


def _text(tree: Branch, key: str) -> str:
    leaf = tree.get(key)
    return str(leaf.value) if isinstance(leaf, Leaf) else ""
