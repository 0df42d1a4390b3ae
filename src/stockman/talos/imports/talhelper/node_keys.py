"""What a `talconfig.yaml` says for one node: its own keys, and those of its group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, TreeNode
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignPatch,
    PatchScope,
    iter_scalars,
    list_items,
)
from stockman.talos.imports.talhelper.variables import HIDDEN_VALUE_PREFIX

NEWEST_VERSION = "v1.13.8"
"""The Talos version that talhelper 3.1.16 takes where none is given."""


class NodeKey(NamedTuple):
    """A key as it holds for a node, and where it was written."""

    known: str
    entry: MappingEntry
    scope: PatchScope

    @property
    def value(self) -> TreeNode:
        return self.entry.value

    @property
    def target(self) -> str:
        """Where a patch goes that is made of it."""
        return patch_target(self.scope)


def patch_target(scope: PatchScope) -> str:
    """The key that patches of a scope stand in."""
    return "the node's talos.patches" if scope == "node" else f"talos.patches.{scope}"


@dataclass(slots=True)
class TalhelperNode:
    """One node with everything that is said for it."""

    foreign: ForeignCluster
    tree: MappingNode
    """The whole file."""
    name: ScalarNode
    is_controller: bool
    given: dict[str, NodeKey]
    keys: MappingNode
    """The node in our words, as far as it was read."""
    extra: list[ForeignPatch] = field(default_factory=list)

    @property
    def group(self) -> MappingNode:
        """What holds for all nodes of the role."""
        found = self.tree.get("controlPlane" if self.is_controller else "worker")
        return found if isinstance(found, MappingNode) else MappingNode(self.tree.at)

    @property
    def group_name(self) -> str:
        return "controlPlane" if self.is_controller else "worker"

    @property
    def role(self) -> PatchScope:
        return "controller" if self.is_controller else "worker"

    @property
    def contract(self) -> tuple[int, int]:
        major, _, minor = self.foreign.contract.partition(".")
        return int(major), int(minor)

    def has(self, key: str) -> bool:
        return key in self.given

    def mapping(self, key: str) -> MappingNode | None:
        """A key that is a mapping. None: it is not given, or something else."""
        one = self.given.get(key)
        return one.value if one is not None and isinstance(one.value, MappingNode) else None

    def texts(self, key: str) -> list[str]:
        """A key that is a list of texts."""
        one = self.given.get(key)
        found = list_items(one.value) if one is not None else []
        return [item.text for item in found if isinstance(item, ScalarNode)]

    def top(self, key: str) -> str:
        """A text of the whole file; empty: it is not given."""
        found = self.tree.get(key)
        return found.text if isinstance(found, ScalarNode) else ""

    def top_texts(self, key: str) -> list[str]:
        return [one.text for one in list_items(self.tree.get(key)) if isinstance(one, ScalarNode)]

    def version(self, key: str, otherwise: str = "") -> str:
        """A version as image tags write it."""
        return f"v{(self.top(key) or otherwise).removeprefix('v')}"

    def is_hidden(self, key: str) -> bool:
        """Whether a key holds an encrypted value; it is left out then."""
        one = self.given[key]
        if not any(HIDDEN_VALUE_PREFIX in scalar.text for scalar in iter_scalars(one.value)):
            return False
        how = "it holds an encrypted value, which would be in the clear here"
        self.foreign.say(one.known, one.entry.key.at, "left out", how)
        return True

    def add(self, one: NodeKey, whole: MappingNode) -> None:
        """Make a patch of a key."""
        number = sum(piece.scope == one.scope for piece in self.extra)
        self.extra.append(ForeignPatch(one.known, one.scope, (-1, number), whole))

    def has_piece(self, key: str) -> bool:
        """Whether a key became a patch."""
        one = self.given.get(key)
        return one is not None and any(piece.label == one.known for piece in self.extra)


def node_keys(index: int, node: MappingNode, tree: MappingNode, group: str) -> dict[str, NodeKey]:
    """The keys that hold for a node: its own win, unless they are zero."""
    scope: PatchScope = "controller" if group == "controlPlane" else "worker"
    shared = tree.get(group)
    found: dict[str, NodeKey] = {}
    if isinstance(shared, MappingNode):
        for key, entry in shared.entries.items():
            found[key] = NodeKey(f"{group}.{key}", entry, scope)
    for key, entry in node.entries.items():
        if not is_zero(entry.value):
            found[key] = NodeKey(f"nodes[{index}].{key}", entry, "node")
    return found


def is_zero(value: TreeNode) -> bool:
    """Whether Go takes a value for one that was not given."""
    return isinstance(value, ScalarNode) and (
        value.is_null or (value.plain and value.text.lower() in ("false", "0")) or not value.text
    )
