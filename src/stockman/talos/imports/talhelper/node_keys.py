"""Settings of one node in a `talconfig.yaml`: its own keys, and those of its group."""

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
"""The default Talos version of talhelper 3.1.16."""


class NodeKey(NamedTuple):
    """A key that applies to a node, and where it was written."""

    label: str
    entry: MappingEntry
    scope: PatchScope

    @property
    def value(self) -> TreeNode:
        return self.entry.value

    @property
    def target(self) -> str:
        """The key of the patch that it becomes."""
        return patch_target(self.scope)


def patch_target(scope: PatchScope) -> str:
    """Return the key that holds the patches of a scope."""
    return "the node's talos.patches" if scope == "node" else f"talos.patches.{scope}"


@dataclass(slots=True)
class TalhelperNode:
    """One node with all settings that apply to it."""

    foreign: ForeignCluster
    tree: MappingNode
    """The whole file."""
    name: ScalarNode
    is_controller: bool
    settings: dict[str, NodeKey]
    keys: MappingNode
    """The node's keys in our format, as far as they were converted."""
    extra: list[ForeignPatch] = field(default_factory=list)

    @property
    def group(self) -> MappingNode:
        """Settings of all nodes with this role."""
        group = self.tree.get("controlPlane" if self.is_controller else "worker")
        return group if isinstance(group, MappingNode) else MappingNode(self.tree.at)

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
        return key in self.settings

    def mapping(self, key: str) -> MappingNode | None:
        """Return a key that is a mapping. None: it is missing or something else."""
        setting = self.settings.get(key)
        return (
            setting.value
            if setting is not None and isinstance(setting.value, MappingNode)
            else None
        )

    def texts(self, key: str) -> list[str]:
        """Return a key that is a list of texts."""
        setting = self.settings.get(key)
        items = list_items(setting.value) if setting is not None else []
        return [item.text for item in items if isinstance(item, ScalarNode)]

    def top(self, key: str) -> str:
        """Return a text of the whole file; empty: it is missing."""
        value = self.tree.get(key)
        return value.text if isinstance(value, ScalarNode) else ""

    def top_texts(self, key: str) -> list[str]:
        return [
            item.text for item in list_items(self.tree.get(key)) if isinstance(item, ScalarNode)
        ]

    def version(self, key: str, default: str = "") -> str:
        """Return a version in the form of image tags."""
        return f"v{(self.top(key) or default).removeprefix('v')}"

    def is_hidden(self, key: str) -> bool:
        """Whether a key holds an encrypted value; if so, record that it is left out."""
        setting = self.settings[key]
        if not any(HIDDEN_VALUE_PREFIX in scalar.text for scalar in iter_scalars(setting.value)):
            return False
        how = "it contains an encrypted value, which would be unencrypted here"
        self.foreign.record(setting.label, setting.entry.key.at, "left out", how)
        return True

    def add_patch(self, setting: NodeKey, document: MappingNode) -> None:
        """Add a patch that was generated from a key."""
        number = sum(patch.scope == setting.scope for patch in self.extra)
        self.extra.append(ForeignPatch(setting.label, setting.scope, (-1, number), document))

    def has_patch(self, key: str) -> bool:
        """Whether a key became a patch."""
        setting = self.settings.get(key)
        return setting is not None and any(patch.label == setting.label for patch in self.extra)


def node_keys(index: int, node: MappingNode, tree: MappingNode, group: str) -> dict[str, NodeKey]:
    """Return the keys that apply to a node: its own override those of the group, unless zero."""
    scope: PatchScope = "controller" if group == "controlPlane" else "worker"
    shared = tree.get(group)
    keys: dict[str, NodeKey] = {}
    if isinstance(shared, MappingNode):
        for key, entry in shared.entries.items():
            keys[key] = NodeKey(f"{group}.{key}", entry, scope)
    for key, entry in node.entries.items():
        if not is_zero(entry.value):
            keys[key] = NodeKey(f"nodes[{index}].{key}", entry, "node")
    return keys


def is_zero(value: TreeNode) -> bool:
    """Whether Go cannot distinguish a value from one that is missing."""
    return isinstance(value, ScalarNode) and (
        value.is_null or (value.plain and value.text.lower() in ("false", "0")) or not value.text
    )
