"""Assign patches to all nodes, a role or a node, and remove what keys already express.

A patch stays on the level it was written on if it is the same for every node there and may change
places with the patches it has to pass. Otherwise it is copied to each node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from stockman.config.rules.nodes import OWNED, OWNED_KINDS
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
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
from stockman.talos.imports.talhelper.node_keys import HIDDEN_VALUE_PREFIX

PatchSource = tuple[PatchScope, tuple[int, int]]
"""Identifies a document of a patch, for all nodes that it applies to."""
_RANKS: dict[PatchOrder, dict[str, int]] = {
    "specific": {"all": 0, "role": 1, "node": 2},
    "talhelper": {"role": 0, "node": 1, "all": 2},
}
_DocumentValue = tuple[tuple[str, str], tuple[str, ...]]


def patch_source(patch: ForeignPatch) -> PatchSource:
    """Return what identifies a patch, whichever node it is for."""
    return patch.scope, patch.index


def assign_levels(
    patches: Mapping[str, list[ForeignPatch]],
    members: Mapping[PatchScope, set[str]],
    order: PatchOrder,
) -> dict[PatchSource, PatchScope]:
    """Return the level of every patch; `patches` has those of each node as they apply."""
    levels = {
        patch_source(patch): patch.scope
        for node_patches in patches.values()
        for patch in node_patches
    }
    for key in list(levels):
        if levels[key] != "node" and not _is_shared(key, patches, members):
            levels[key] = "node"
    while conflict := _find_conflict(patches, levels, order):
        for key in conflict:
            levels[key] = "node"
    return levels


def _is_shared(
    key: PatchSource,
    patches: Mapping[str, list[ForeignPatch]],
    members: Mapping[PatchScope, set[str]],
) -> bool:
    """Whether a patch is the same for every node of its scope."""
    texts: dict[str, object] = {}
    for name, node_patches in patches.items():
        for patch in node_patches:
            if patch_source(patch) == key:
                texts[name] = to_plain_data(patch.document)
    values = list(texts.values())
    return set(texts) >= members[key[0]] and all(value == values[0] for value in values)


def _find_conflict(
    patches: Mapping[str, list[ForeignPatch]],
    levels: Mapping[PatchSource, PatchScope],
    order: PatchOrder,
) -> set[PatchSource]:
    """Return two patches that would change places and must not; empty: there are none."""
    ranks = _RANKS[order]

    def rank(patch: ForeignPatch) -> int:
        level = levels[patch_source(patch)]
        return ranks["role" if level in ("controller", "worker") else level]

    for node_patches in patches.values():
        for index, first in enumerate(node_patches):
            for second in node_patches[index + 1 :]:
                if rank(first) <= rank(second) or not patches_overlap(first, second):
                    continue
                wrong = {
                    patch_source(patch)
                    for patch in (first, second)
                    if levels[patch_source(patch)] != "node"
                }
                if wrong:
                    return wrong
    return set()


def patches_overlap(first: ForeignPatch, second: ForeignPatch) -> bool:
    """Whether two patches set the same path."""
    return bool(list(shared_paths(first, second)))


def shared_paths(first: ForeignPatch, second: ForeignPatch) -> Iterator[str]:
    """Yield the paths that both patches set."""
    for first_document, first_path in document_values(first.document):
        for second_document, second_path in document_values(second.document):
            short = min(len(first_path), len(second_path))
            if first_document == second_document and first_path[:short] == second_path[:short]:
                longer = first_path if len(first_path) > len(second_path) else second_path
                path = ".".join(longer)
                yield f"{' '.join(filter(None, first_document))} {path}".strip()


def document_values(document: MappingNode) -> Iterator[_DocumentValue]:
    """Yield every value of a document as the document's key and the value's path."""
    kind, name = document.get("kind"), document.get("name")
    identity = (
        kind.text if isinstance(kind, ScalarNode) else "v1alpha1",
        name.text if isinstance(name, ScalarNode) and isinstance(kind, ScalarNode) else "",
    )
    for path in leaf_paths(document):
        if path not in (("apiVersion",), ("kind",), ("name",)):
            yield identity, path


def leaf_paths(node: TreeNode, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of values; a list and a mapping with `$patch` count as one value."""
    if isinstance(node, ScalarNode | SequenceNode) or "$patch" in node.entries or not node.entries:
        yield path
        return
    for key, entry in node.entries.items():
        yield from leaf_paths(entry.value, (*path, key))


MOVED: dict[tuple[str, ...], str] = {
    ("machine", "network", "nameservers"): "network.dns_servers",
    ("machine", "network", "disableSearchDomain"): "machines never have a search domain",
    ("machine", "time", "servers"): "network.ntp_servers",
    ("machine", "time", "disabled"): "time synchronization is always on",
    ("machine", "network", "hostname"): "the node's name",
}
"""Fields that are separate documents from contract 1.12 on, and the key that sets them."""

_SECRET_KEYS = frozenset(
    {"privateKey", "presharedKey", "passphrase", "password", "identityToken", "auth", "secret"}
)
_DONE_BY_STOCKMAN = "stockman sets this by default"
_IS_SECRET = "it contains {}, which would be unencrypted here"


@dataclass(slots=True)
class PatchTrimmer:
    """Removes redundant and secret parts of patches, and records each removal."""

    foreign: ForeignCluster
    theirs: Mapping[str, Configuration]
    """Machine configurations by node; empty: unknown."""
    ours: Mapping[str, Configuration]
    _redundant: dict[tuple[PatchSource, DocumentKey, tuple[str, ...]], bool] = field(
        default_factory=dict
    )

    def trim(self, nodes: list[ForeignNode]) -> dict[str, list[ForeignPatch]]:
        """Return the remaining patches of every node, in their order."""
        holders: dict[PatchSource, list[ForeignNode]] = {}
        for node in nodes:
            for patch in (*node.extra, *node.patches):
                holders.setdefault(patch_source(patch), []).append(node)
        trimmed: dict[str, list[ForeignPatch]] = {}
        for node in nodes:
            kept = []
            for patch in (*node.extra, *node.patches):
                remaining = self._trim_patch(patch, holders[patch_source(patch)])
                if remaining is not None:
                    kept.append(remaining)
            trimmed[node.name] = kept
        return trimmed

    def _trim_patch(self, patch: ForeignPatch, holders: list[ForeignNode]) -> ForeignPatch | None:
        secret = _find_secret(patch.document)
        if secret is not None:
            how = _IS_SECRET.format(secret)
            self.foreign.record(patch.label, patch.at, "left out", how)
            return None
        kind = patch.document.get("kind")
        name = patch.document.get("name")
        document = (
            kind.text if isinstance(kind, ScalarNode) else "v1alpha1",
            name.text if isinstance(name, ScalarNode) and isinstance(kind, ScalarNode) else "",
        )
        if document[0] in OWNED_KINDS:
            self._record_decider(patch, document[0], OWNED_KINDS[document[0]], patch.at)
            return None
        removed = [
            path
            for path in leaf_paths(patch.document)
            if self._is_removed(patch, document, path, holders)
        ]
        remaining = _remove_values(patch.document, (), removed)
        if remaining is not None and document[0] == "v1alpha1":
            remaining = self._without_known_names(remaining, holders)
        if remaining is None or not _has_content(remaining, document):
            return None
        return replace(patch, document=remaining)

    def _is_removed(
        self,
        patch: ForeignPatch,
        document: DocumentKey,
        path: tuple[str, ...],
        holders: list[ForeignNode],
    ) -> bool:
        if document[0] == "v1alpha1":
            for owned, decider in OWNED.items():
                if path[: len(owned)] == owned:
                    self._record_decider(
                        patch, ".".join(owned), decider, _position_at(patch.document, path)
                    )
                    return True
            moved = MOVED.get(path)
            if moved is not None and self._multidoc:
                known = f"{patch.label}: {'.'.join(path)}"
                self.foreign.record(known, _position_at(patch.document, path), "changed", moved)
                return True
        elif path in (("apiVersion",), ("kind",), ("name",)):
            return False
        value_key = (patch_source(patch), document, path)
        if value_key not in self._redundant:
            self._redundant[value_key] = self._is_redundant(document, path, holders)
        if not self._redundant[value_key]:
            return False
        known = f"{patch.label}: {'.'.join(path) or ' '.join(document).strip()}"
        self.foreign.record(known, _position_at(patch.document, path), "changed", _DONE_BY_STOCKMAN)
        return True

    def _without_known_names(
        self, document: MappingNode, holders: list[ForeignNode]
    ) -> MappingNode:
        """Remove list items that every machine has anyway."""
        for path in [path for path in leaf_paths(document) if is_unordered(path)]:
            known = [
                value_at(ours, ("v1alpha1", ""), path)
                for node in holders
                if (ours := self.ours.get(node.name)) is not None
            ]
            common = set.intersection(*(_item_names(value) for value in known)) if known else set()
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

    def _record_decider(self, patch: ForeignPatch, what: str, decider: str, at: Position) -> None:
        self.foreign.record(f"{patch.label}: {what}", at, "changed", f"set by {decider}")


def is_unordered(path: tuple[str, ...]) -> bool:
    """Whether the order of the list at a path is irrelevant."""
    return path[-1:] == ("certSANs",)


def _item_names(value: object) -> set[str]:
    return {str(item) for item in value} if isinstance(value, list) else set()


def _without_known_items(node: MappingNode, path: tuple[str, ...], known: set[str]) -> MappingNode:
    """Return a document without the known items of the list at a path."""
    key, *remaining = path
    entry = node.entries[key]
    value: TreeNode = entry.value
    if remaining and isinstance(value, MappingNode):
        value = _without_known_items(value, tuple(remaining), known)
    elif isinstance(value, SequenceNode):
        kept = [
            item
            for item in value.items
            if not isinstance(item, ScalarNode) or item.text not in known
        ]
        value = SequenceNode(value.at, kept)
    return MappingNode(
        node.at, {**node.entries, key: MappingEntry(entry.key, value, name=entry.name)}
    )


def _as_set(value: object) -> object:
    return sorted({str(item) for item in value}) if isinstance(value, list) else value


def _find_secret(node: TreeNode) -> str | None:
    """Return what is secret in a document; None: nothing."""
    for scalar in iter_scalars(node):
        if HIDDEN_VALUE_PREFIX in scalar.text:
            return "an encrypted value"
    return _find_secret_key(node)


def _find_secret_key(node: TreeNode) -> str | None:
    if isinstance(node, ScalarNode):
        return None
    if isinstance(node, MappingNode):
        for key, entry in node.entries.items():
            if key in _SECRET_KEYS and isinstance(entry.value, ScalarNode) and entry.value.text:
                return f"a secret ({key})"
            if secret := _find_secret_key(entry.value):
                return secret
        return None
    return next((secret for item in node.items if (secret := _find_secret_key(item))), None)


def _remove_values(
    node: MappingNode, path: tuple[str, ...], removed: list[tuple[str, ...]]
) -> MappingNode | None:
    """Return a document without some of its values; None: nothing is left."""
    if path in removed:
        return None
    entries: dict[str, MappingEntry] = {}
    for key, entry in node.entries.items():
        inner = (*path, key)
        if inner in removed:
            continue
        if not isinstance(entry.value, MappingNode) or "$patch" in entry.value.entries:
            entries[key] = entry
            continue
        remaining = _remove_values(entry.value, inner, removed)
        if remaining is not None and (remaining.entries or not entry.value.entries):
            entries[key] = MappingEntry(entry.key, remaining, name=entry.name, via=entry.via)
    return MappingNode(node.at, entries) if entries else None


def _has_content(document: MappingNode, identity: DocumentKey) -> bool:
    if identity[0] == "v1alpha1":
        return bool(set(document.entries) - {"version"})
    return bool(set(document.entries) - {"apiVersion", "kind", "name"}) or identity[0] in (
        "KubeFlannelCNIConfig",
        "DHCPv4Config",
        "DHCPv6Config",
        "LinkConfig",
    )


def _position_at(document: MappingNode, path: tuple[str, ...]) -> Position:
    node: TreeNode = document
    at = document.at
    for step in path:
        entry = node.entries.get(step) if isinstance(node, MappingNode) else None
        if entry is None:
            return at
        node, at = entry.value, entry.key.at
    return at
