"""Documents of a machine configuration: their identity, and which may be combined."""

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
