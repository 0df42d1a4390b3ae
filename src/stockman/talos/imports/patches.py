"""Where patches go: to all nodes, to a role or to a node, so that the order keeps its meaning.

A patch stays on the level that it was written on as long as it is the same for every node there,
and may change places with those that it has to pass. Otherwise it is given to each node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from stockman.config.rules.patches import OWNED, OWNED_KINDS
from stockman.config.source.tree import (
    MappingEntry,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.config.source.tree import MappingNode as Tree
from stockman.model.origin import Position
from stockman.talos.imports.configurations import Configuration, DocumentKey, value_at
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignNode,
    ForeignPatch,
    PatchOrder,
    PatchScope,
    iter_scalars,
)
from stockman.talos.imports.talhelper.variables import HIDDEN_VALUE_PREFIX

PatchSource = tuple[PatchScope, tuple[int, int]]
"""Which document of which patch: the same for all nodes that it holds for."""
_RANKS: dict[PatchOrder, dict[str, int]] = {
    "specific": {"all": 0, "role": 1, "node": 2},
    "talhelper": {"role": 0, "node": 1, "all": 2},
}
_DocumentValue = tuple[tuple[str, str], tuple[str, ...]]


def patch_source(piece: ForeignPatch) -> PatchSource:
    """What tells a piece from others, whichever node it is for."""
    return piece.scope, piece.place


def assign_levels(
    pieces: Mapping[str, list[ForeignPatch]],
    members: Mapping[PatchScope, set[str]],
    order: PatchOrder,
) -> dict[PatchSource, PatchScope]:
    """The level of every piece; `pieces` are those of each node in the order they apply."""
    found = {patch_source(one): one.scope for all_of in pieces.values() for one in all_of}
    for key in list(found):
        if found[key] != "node" and not _is_shared(key, pieces, members):
            found[key] = "node"
    while clash := _find_conflict(pieces, found, order):
        for key in clash:
            found[key] = "node"
    return found


def _is_shared(
    key: PatchSource,
    pieces: Mapping[str, list[ForeignPatch]],
    members: Mapping[PatchScope, set[str]],
) -> bool:
    """Whether a piece is the same for every node of its scope."""
    texts: dict[str, object] = {}
    for name, all_of in pieces.items():
        for one in all_of:
            if patch_source(one) == key:
                texts[name] = to_plain_data(one.document)
    values = list(texts.values())
    return set(texts) >= members[key[0]] and all(value == values[0] for value in values)


def _find_conflict(
    pieces: Mapping[str, list[ForeignPatch]],
    found: Mapping[PatchSource, PatchScope],
    order: PatchOrder,
) -> set[PatchSource]:
    """Two pieces that would change places and must not; empty: there are none."""
    ranks = _RANKS[order]

    def rank(piece: ForeignPatch) -> int:
        level = found[patch_source(piece)]
        return ranks["role" if level in ("controller", "worker") else level]

    for all_of in pieces.values():
        for index, first in enumerate(all_of):
            for second in all_of[index + 1 :]:
                if rank(first) <= rank(second) or not patches_overlap(first, second):
                    continue
                wrong = {
                    patch_source(one)
                    for one in (first, second)
                    if found[patch_source(one)] != "node"
                }
                if wrong:
                    return wrong
    return set()


def patches_overlap(first: ForeignPatch, second: ForeignPatch) -> bool:
    """Whether two pieces say something of the same place."""
    return bool(list(shared_paths(first, second)))


def shared_paths(first: ForeignPatch, second: ForeignPatch) -> Iterator[str]:
    """Places that two pieces both say something of."""
    for one_document, one in document_values(first.document):
        for other_document, other in document_values(second.document):
            short = min(len(one), len(other))
            if one_document == other_document and one[:short] == other[:short]:
                place = ".".join(one if len(one) > len(other) else other)
                yield f"{' '.join(filter(None, one_document))} {place}".strip()


def document_values(document: Tree) -> Iterator[_DocumentValue]:
    """Every value of a document: which document, and its path."""
    kind, name = document.get("kind"), document.get("name")
    identity = (
        kind.text if isinstance(kind, ScalarNode) else "v1alpha1",
        name.text if isinstance(name, ScalarNode) and isinstance(kind, ScalarNode) else "",
    )
    for path in leaf_paths(document):
        if path not in (("apiVersion",), ("kind",), ("name",)):
            yield identity, path


def leaf_paths(node: TreeNode, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of values; a list is one, and so is what a `$patch` stands in."""
    if isinstance(node, ScalarNode | SequenceNode) or "$patch" in node.entries or not node.entries:
        yield path
        return
    for key, entry in node.entries.items():
        yield from leaf_paths(entry.value, (*path, key))


MOVED: dict[tuple[str, ...], str] = {
    ("machine", "network", "nameservers"): "network.dns_servers",
    ("machine", "network", "disableSearchDomain"): "machines never have a search domain here",
    ("machine", "time", "servers"): "network.ntp_servers",
    ("machine", "time", "disabled"): "machines always keep the time here",
    ("machine", "network", "hostname"): "the node's name",
}
"""Fields that are documents of their own from contract 1.12 on, and the key that decides them."""

_SECRET_KEYS = frozenset(
    {"privateKey", "presharedKey", "passphrase", "password", "identityToken", "auth", "secret"}
)
_DONE_BY_STOCKMAN = "stockman does that by itself"
_IS_SECRET = "it holds {}, which would be in the clear here"
_IsRemoved = Callable[[DocumentKey, tuple[str, ...], Position], bool]


@dataclass(slots=True)
class PatchTrimmer:
    """Takes parts out of patches, and says so."""

    foreign: ForeignCluster
    theirs: Mapping[str, Configuration]
    """Machine configurations by node; empty: they are not known."""
    ours: Mapping[str, Configuration]
    _redundant: dict[tuple[PatchSource, DocumentKey, tuple[str, ...]], bool] = field(
        default_factory=dict
    )

    def trimmed(self, nodes: list[ForeignNode]) -> dict[str, list[ForeignPatch]]:
        """What is left of the pieces of every node, in their order."""
        holders: dict[PatchSource, list[ForeignNode]] = {}
        for node in nodes:
            for piece in (*node.extra, *node.pieces):
                holders.setdefault(patch_source(piece), []).append(node)
        found: dict[str, list[ForeignPatch]] = {}
        for node in nodes:
            kept = []
            for piece in (*node.extra, *node.pieces):
                left = self._trim(piece, holders[patch_source(piece)])
                if left is not None:
                    kept.append(left)
            found[node.name] = kept
        return found

    def _trim(self, piece: ForeignPatch, holders: list[ForeignNode]) -> ForeignPatch | None:
        secret = _find_secret(piece.document)
        if secret is not None:
            how = _IS_SECRET.format(secret)
            self.foreign.say(piece.label, piece.at, "left out", how)
            return None
        kind = piece.document.get("kind")
        name = piece.document.get("name")
        document = (
            kind.text if isinstance(kind, ScalarNode) else "v1alpha1",
            name.text if isinstance(name, ScalarNode) and isinstance(kind, ScalarNode) else "",
        )
        if document[0] in OWNED_KINDS:
            self._tell_owned(piece, document[0], OWNED_KINDS[document[0]], piece.at)
            return None
        gone = [
            path
            for path in leaf_paths(piece.document)
            if self._goes(piece, document, path, holders)
        ]
        left = _remove_values(piece.document, (), gone)
        if left is not None and document[0] == "v1alpha1":
            left = self._without_known_names(left, holders)
        if left is None or not _has_content(left, document):
            return None
        return replace(piece, document=left)

    def _goes(
        self,
        piece: ForeignPatch,
        document: DocumentKey,
        path: tuple[str, ...],
        holders: list[ForeignNode],
    ) -> bool:
        if document[0] == "v1alpha1":
            for owned, decider in OWNED.items():
                if path[: len(owned)] == owned:
                    self._tell_owned(
                        piece, ".".join(owned), decider, _position_at(piece.document, path)
                    )
                    return True
            moved = MOVED.get(path)
            if moved is not None and self._multidoc:
                known = f"{piece.label}: {'.'.join(path)}"
                self.foreign.say(known, _position_at(piece.document, path), "changed", moved)
                return True
        elif path in (("apiVersion",), ("kind",), ("name",)):
            return False
        place = (patch_source(piece), document, path)
        if place not in self._redundant:
            self._redundant[place] = self._is_redundant(document, path, holders)
        if not self._redundant[place]:
            return False
        known = f"{piece.label}: {'.'.join(path) or ' '.join(document).strip()}"
        self.foreign.say(known, _position_at(piece.document, path), "changed", _DONE_BY_STOCKMAN)
        return True

    def _without_known_names(self, document: Tree, holders: list[ForeignNode]) -> Tree:
        """Lists of names without those that every machine has anyway."""
        for path in [path for path in leaf_paths(document) if is_unordered(path)]:
            known = [
                value_at(ours, ("v1alpha1", ""), path)
                for node in holders
                if (ours := self.ours.get(node.name)) is not None
            ]
            common = set.intersection(*(_item_names(one) for one in known)) if known else set()
            document = _without_known_items(document, path, common)
        return document

    @property
    def _multidoc(self) -> bool:
        return tuple(map(int, self.foreign.contract.split("."))) >= (1, 12)

    def _is_redundant(
        self, document: DocumentKey, path: tuple[str, ...], holders: list[ForeignNode]
    ) -> bool:
        for node in holders:
            theirs, ours = self.theirs.get(node.name), self.ours.get(node.name)
            if theirs is None or ours is None:
                return False
            if is_unordered(path) and _as_set(value_at(theirs, document, path)) == _as_set(
                value_at(ours, document, path)
            ):
                continue
            if value_at(theirs, document, path) != value_at(ours, document, path):
                return False
        return True

    def _tell_owned(self, piece: ForeignPatch, what: str, decider: str, at: Position) -> None:
        self.foreign.say(f"{piece.label}: {what}", at, "changed", f"follows from {decider}")


def is_unordered(path: tuple[str, ...]) -> bool:
    """Whether the order of a list at a path means nothing."""
    return path[-1:] == ("certSANs",)


def _item_names(value: object) -> set[str]:
    return {str(one) for one in value} if isinstance(value, list) else set()


def _without_known_items(node: Tree, path: tuple[str, ...], known: set[str]) -> Tree:
    """A document whose list at a path has no item that is known already."""
    key, *rest = path
    entry = node.entries[key]
    value: TreeNode = entry.value
    if rest and isinstance(value, Tree):
        value = _without_known_items(value, tuple(rest), known)
    elif isinstance(value, SequenceNode):
        kept = [
            one for one in value.items if not isinstance(one, ScalarNode) or one.text not in known
        ]
        value = SequenceNode(value.at, kept)
    return Tree(node.at, {**node.entries, key: MappingEntry(entry.key, value, name=entry.name)})


def _as_set(value: object) -> object:
    return sorted({str(one) for one in value}) if isinstance(value, list) else value


def _find_secret(node: TreeNode) -> str | None:
    """What is secret in a document; None: nothing."""
    for scalar in iter_scalars(node):
        if HIDDEN_VALUE_PREFIX in scalar.text:
            return "an encrypted value"
    return _find_secret_key(node)


def _find_secret_key(node: TreeNode) -> str | None:
    if isinstance(node, ScalarNode):
        return None
    if isinstance(node, Tree):
        for key, entry in node.entries.items():
            if key in _SECRET_KEYS and isinstance(entry.value, ScalarNode) and entry.value.text:
                return f"a secret ({key})"
            if found := _find_secret_key(entry.value):
                return found
        return None
    return next((found for item in node.items if (found := _find_secret_key(item))), None)


def _remove_values(node: Tree, path: tuple[str, ...], gone: list[tuple[str, ...]]) -> Tree | None:
    """A document without some of its values; None: nothing is left."""
    if path in gone:
        return None
    entries: dict[str, MappingEntry] = {}
    for key, entry in node.entries.items():
        inner = (*path, key)
        if inner in gone:
            continue
        if not isinstance(entry.value, Tree) or "$patch" in entry.value.entries:
            entries[key] = entry
            continue
        left = _remove_values(entry.value, inner, gone)
        if left is not None and (left.entries or not entry.value.entries):
            entries[key] = MappingEntry(entry.key, left, name=entry.name, via=entry.via)
    return Tree(node.at, entries) if entries else None


def _has_content(document: Tree, identity: DocumentKey) -> bool:
    if identity[0] == "v1alpha1":
        return bool(set(document.entries) - {"version"})
    return bool(set(document.entries) - {"apiVersion", "kind", "name"}) or identity[0] in (
        "KubeFlannelCNIConfig",
        "DHCPv4Config",
        "DHCPv6Config",
        "LinkConfig",
    )


def _position_at(document: Tree, path: tuple[str, ...]) -> Position:
    node: TreeNode = document
    at = document.at
    for step in path:
        entry = node.entries.get(step) if isinstance(node, Tree) else None
        if entry is None:
            return at
        node, at = entry.value, entry.key.at
    return at
