"""Documents of a machine configuration: what they are, and which may stand together."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from stockman.config.source.tree import MappingNode, ScalarNode, TreeNode
from stockman.model.record import record
from stockman.talos.patches.decode import Decoder
from stockman.talos.patches.encode import encode_tree
from stockman.talos.patches.patch import InvalidValue
from stockman.talos.patches.schema import DocumentKind, TypeSchema
from stockman.talos.patches.tree import Branch, Leaf, iter_leaves

V1ALPHA1 = "v1alpha1"
_LEGACY_KEYS = frozenset({"machine", "cluster", "debug", "persist"})
_LINKS_CLAIMED = 14
"""The first minor that compares the names of both ends of a veth pair with other links."""

_NOT_COPIED = ("machine.baseRuntimeSpecOverrides", "cluster.apiServer.authorizationConfig[")
"""Free parts of the oldest document that Talos shares where it copies the others."""

DocumentIdentity = tuple[str, str, str | None]


@record
class ConfigDocument:
    """One document: its kind, and its fields as they were written."""

    kind: DocumentKind
    tree: Branch

    @property
    def api_version(self) -> str:
        return "" if self.kind.name == V1ALPHA1 else _text(self.tree, "apiVersion")

    @property
    def name(self) -> str:
        """Empty: the kind has no names, or the document none."""
        return _text(self.tree, "name") if self.kind.is_named else ""

    @property
    def identity(self) -> DocumentIdentity:
        """What makes two documents one: apiVersion, kind, and the name where the kind has names."""
        return (self.api_version, self.kind.name, self.name if self.kind.is_named else None)

    @property
    def label(self) -> str:
        return f"{self.kind.name} {self.name}".rstrip()

    def printed(self) -> Branch:
        """The fields as Talos prints them: in its order, with the zero values that it writes."""
        tree = encode_tree(self.kind.type, self.tree)
        return tree if isinstance(tree, Branch) else self.tree


def decode_document(table: TypeSchema, node: MappingNode, decoder: Decoder) -> ConfigDocument:
    """The document of a mapping; raises Misfit where Talos would refuse it."""
    kind = _document_kind(table, node)
    tree = decoder.decode(kind.type, node)
    if not isinstance(tree, Branch):
        raise InvalidValue(
            code="patch.kind",
            what="a document holds no keys",
            why="it is empty",
            fix="remove it",
            at=node.at,
        )
    return ConfigDocument(kind=kind, tree=tree)


def _document_kind(table: TypeSchema, node: MappingNode) -> DocumentKind:
    kind, version = raw_text(node, "kind"), raw_text(node, "apiVersion")
    if _LEGACY_KEYS & node.entries.keys():
        version = V1ALPHA1
    if not kind:
        if version == V1ALPHA1:
            return table.kinds[V1ALPHA1]
        raise InvalidValue(
            code="patch.kind",
            what="a document does not say what it is",
            why="it has neither `kind` nor one of machine, cluster, debug and persist",
            fix="write `apiVersion: v1alpha1` and the `kind`",
            at=node.at,
        )
    found = table.kinds.get(kind)
    if found is None or (version != V1ALPHA1 and kind != V1ALPHA1):
        at = node.entries["kind"].value.at
        raise InvalidValue(
            code="patch.kind",
            what=f"{version or 'no apiVersion'} {kind} is no document of Talos {table.minor}",
            why="Talos refuses documents that it does not know",
            fix="check apiVersion and kind, or the Talos version of the node",
            at=at,
        )
    return found


def raw_text(node: TreeNode, key: str) -> str:
    """The text of a key before it is decoded."""
    value = node.get(key) if isinstance(node, MappingNode) else None
    if not isinstance(value, ScalarNode) or value.is_null:
        return ""
    return value.text


def combine_documents(
    documents: Iterable[ConfigDocument], table: TypeSchema
) -> tuple[ConfigDocument, ...]:
    """The documents, the oldest kind first; raises Misfit where two may not stand together."""
    first: list[ConfigDocument] = []
    rest: list[ConfigDocument] = []
    seen: dict[tuple[str, str], ConfigDocument] = {}
    barred: dict[tuple[str, str], ConfigDocument] = {}
    links: dict[str, ConfigDocument] = {}
    for one in documents:
        if one.kind.name == V1ALPHA1:
            if first:
                raise _conflict_error(one, first[0])
            first.append(one)
            continue
        key = (one.kind.name, one.name)
        others = [(other, one.name) for other in one.kind.conflicts]
        for clash in (seen.get(key), barred.get(key), *(seen.get(other) for other in others)):
            if clash is not None:
                raise _conflict_error(one, clash)
        seen[key] = one
        barred.update(dict.fromkeys(others, one))
        if table.number >= _LINKS_CLAIMED and one.kind.is_link:
            _claim_link(one, links)
        rest.append(one)
    return (*first, *rest)


def check_no_timestamps(document: ConfigDocument) -> None:
    """Raise Misfit if a moment stands there without quotes: Talos cannot copy such a document."""
    for path, leaf in iter_leaves(document.tree):
        if isinstance(leaf.value, datetime) and not (
            document.kind.name == V1ALPHA1 and path.startswith(_NOT_COPIED)
        ):
            raise InvalidValue(
                code="patch.value",
                what=f"the value of {path} does not fit",
                why="Talos takes it for a moment in time, which it cannot copy",
                fix="quote it",
                at=None if leaf.origin.is_derived else leaf.origin.at,
            )


def _claim_link(one: ConfigDocument, links: dict[str, ConfigDocument]) -> None:
    peer = one.tree.get("peer")
    names = [one.name]
    if one.kind.name == "VethConfig":
        names.append(_text(peer, "name") if isinstance(peer, Branch) else "")
    for name in names:
        if name in links:
            raise _conflict_error(one, links[name])
        links[name] = one


def _conflict_error(one: ConfigDocument, other: ConfigDocument) -> InvalidValue:
    return InvalidValue(
        code="patch.result",
        what=f"{one.label} and {other.label} cannot stand in one configuration",
        why="Talos allows one document of a kind and name, and one kind of link for a name",
        fix="remove one of them, or give it another name",
        at=None if one.tree.origin.is_derived else one.tree.origin.at,
    )


def _text(tree: Branch, key: str) -> str:
    leaf = tree.get(key)
    return str(leaf.value) if isinstance(leaf, Leaf) else ""
