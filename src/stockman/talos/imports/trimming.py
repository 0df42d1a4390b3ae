"""Patches without what a key says here, what stockman does by itself, and what is secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from stockman.config.rules.patches import OWNED, OWNED_KINDS
from stockman.config.source.tree import Entry, Node, Scalar, Sequence
from stockman.config.source.tree import Mapping as Tree
from stockman.model.origin import Position
from stockman.talos.imports.configurations import Configuration, Identity, value_at
from stockman.talos.imports.foreign import Foreign, ForeignNode, Piece, scalars
from stockman.talos.imports.levels import Source, leaves, source
from stockman.talos.imports.variables import HIDDEN

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
_BY_ITSELF = "stockman does that by itself"
_IS_SECRET = "it holds {}, which would be in the clear here"
_Gone = Callable[[Identity, tuple[str, ...], Position], bool]


@dataclass(slots=True)
class Trimmer:
    """Takes parts out of patches, and says so."""

    foreign: Foreign
    theirs: Mapping[str, Configuration]
    """Machine configurations by node; empty: they are not known."""
    ours: Mapping[str, Configuration]
    _redundant: dict[tuple[Source, Identity, tuple[str, ...]], bool] = field(default_factory=dict)

    def trimmed(self, nodes: list[ForeignNode]) -> dict[str, list[Piece]]:
        """What is left of the pieces of every node, in their order."""
        holders: dict[Source, list[ForeignNode]] = {}
        for node in nodes:
            for piece in (*node.extra, *node.pieces):
                holders.setdefault(source(piece), []).append(node)
        found: dict[str, list[Piece]] = {}
        for node in nodes:
            kept = []
            for piece in (*node.extra, *node.pieces):
                left = self._trim(piece, holders[source(piece)])
                if left is not None:
                    kept.append(left)
            found[node.name] = kept
        return found

    def _trim(self, piece: Piece, holders: list[ForeignNode]) -> Piece | None:
        secret = _secret_in(piece.document)
        if secret is not None:
            how = _IS_SECRET.format(secret)
            self.foreign.say(piece.label, piece.at, "left out", how)
            return None
        kind = piece.document.get("kind")
        name = piece.document.get("name")
        document = (
            kind.text if isinstance(kind, Scalar) else "v1alpha1",
            name.text if isinstance(name, Scalar) and isinstance(kind, Scalar) else "",
        )
        if document[0] in OWNED_KINDS:
            self._tell_owned(piece, document[0], OWNED_KINDS[document[0]], piece.at)
            return None
        gone = [
            path for path in leaves(piece.document) if self._goes(piece, document, path, holders)
        ]
        left = _without(piece.document, (), gone)
        if left is not None and document[0] == "v1alpha1":
            left = self._without_known_names(left, holders)
        if left is None or not _says_something(left, document):
            return None
        return replace(piece, document=left)

    def _goes(
        self, piece: Piece, document: Identity, path: tuple[str, ...], holders: list[ForeignNode]
    ) -> bool:
        if document[0] == "v1alpha1":
            for owned, decider in OWNED.items():
                if path[: len(owned)] == owned:
                    self._tell_owned(piece, ".".join(owned), decider, _place(piece.document, path))
                    return True
            moved = MOVED.get(path)
            if moved is not None and self._multidoc:
                known = f"{piece.label}: {'.'.join(path)}"
                self.foreign.say(known, _place(piece.document, path), "changed", moved)
                return True
        elif path in (("apiVersion",), ("kind",), ("name",)):
            return False
        place = (source(piece), document, path)
        if place not in self._redundant:
            self._redundant[place] = self._is_redundant(document, path, holders)
        if not self._redundant[place]:
            return False
        known = f"{piece.label}: {'.'.join(path) or ' '.join(document).strip()}"
        self.foreign.say(known, _place(piece.document, path), "changed", _BY_ITSELF)
        return True

    def _without_known_names(self, document: Tree, holders: list[ForeignNode]) -> Tree:
        """Lists of names without those that every machine has anyway."""
        for path in [path for path in leaves(document) if same(path)]:
            known = [
                value_at(ours, ("v1alpha1", ""), path)
                for node in holders
                if (ours := self.ours.get(node.name)) is not None
            ]
            common = set.intersection(*(_names(one) for one in known)) if known else set()
            document = _thinned(document, path, common)
        return document

    @property
    def _multidoc(self) -> bool:
        return tuple(map(int, self.foreign.contract.split("."))) >= (1, 12)

    def _is_redundant(
        self, document: Identity, path: tuple[str, ...], holders: list[ForeignNode]
    ) -> bool:
        for node in holders:
            theirs, ours = self.theirs.get(node.name), self.ours.get(node.name)
            if theirs is None or ours is None:
                return False
            if same(path) and _as_set(value_at(theirs, document, path)) == _as_set(
                value_at(ours, document, path)
            ):
                continue
            if value_at(theirs, document, path) != value_at(ours, document, path):
                return False
        return True

    def _tell_owned(self, piece: Piece, what: str, decider: str, at: Position) -> None:
        self.foreign.say(f"{piece.label}: {what}", at, "changed", f"follows from {decider}")


def same(path: tuple[str, ...]) -> bool:
    """Whether the order of a list at a path means nothing."""
    return path[-1:] == ("certSANs",)


def _names(value: object) -> set[str]:
    return {str(one) for one in value} if isinstance(value, list) else set()


def _thinned(node: Tree, path: tuple[str, ...], known: set[str]) -> Tree:
    """A document whose list at a path has no item that is known already."""
    key, *rest = path
    entry = node.entries[key]
    value: Node = entry.value
    if rest and isinstance(value, Tree):
        value = _thinned(value, tuple(rest), known)
    elif isinstance(value, Sequence):
        kept = [one for one in value.items if not isinstance(one, Scalar) or one.text not in known]
        value = Sequence(value.at, kept)
    return Tree(node.at, {**node.entries, key: Entry(entry.key, value, name=entry.name)})


def _as_set(value: object) -> object:
    return sorted({str(one) for one in value}) if isinstance(value, list) else value


def _secret_in(node: Node) -> str | None:
    """What is secret in a document; None: nothing."""
    for scalar in scalars(node):
        if HIDDEN in scalar.text:
            return "an encrypted value"
    return _secret_key(node)


def _secret_key(node: Node) -> str | None:
    if isinstance(node, Scalar):
        return None
    if isinstance(node, Tree):
        for key, entry in node.entries.items():
            if key in _SECRET_KEYS and isinstance(entry.value, Scalar) and entry.value.text:
                return f"a secret ({key})"
            if found := _secret_key(entry.value):
                return found
        return None
    return next((found for item in node.items if (found := _secret_key(item))), None)


def _without(node: Tree, path: tuple[str, ...], gone: list[tuple[str, ...]]) -> Tree | None:
    """A document without some of its values; None: nothing is left."""
    if path in gone:
        return None
    entries: dict[str, Entry] = {}
    for key, entry in node.entries.items():
        inner = (*path, key)
        if inner in gone:
            continue
        if not isinstance(entry.value, Tree) or "$patch" in entry.value.entries:
            entries[key] = entry
            continue
        left = _without(entry.value, inner, gone)
        if left is not None and (left.entries or not entry.value.entries):
            entries[key] = Entry(entry.key, left, name=entry.name, via=entry.via)
    return Tree(node.at, entries) if entries else None


def _says_something(document: Tree, identity: Identity) -> bool:
    if identity[0] == "v1alpha1":
        return bool(set(document.entries) - {"version"})
    return bool(set(document.entries) - {"apiVersion", "kind", "name"}) or identity[0] in (
        "KubeFlannelCNIConfig",
        "DHCPv4Config",
        "DHCPv6Config",
        "LinkConfig",
    )


def _place(document: Tree, path: tuple[str, ...]) -> Position:
    node: Node = document
    at = document.at
    for step in path:
        entry = node.entries.get(step) if isinstance(node, Tree) else None
        if entry is None:
            return at
        node, at = entry.value, entry.key.at
    return at
