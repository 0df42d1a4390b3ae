"""Settings of one node in a `talconfig.yaml`: its keys, those of its group, and variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stockman.config.comments import find_yaml_comments
from stockman.config.source.tree import MappingEntry, MappingNode, ScalarNode, TreeNode
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignPatch,
    PatchScope,
    iter_scalars,
    list_items,
)

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


_VARIABLE = pattern(
    r"\$(?:"
    r"(?P<dollar>\$)"
    r"|(?P<bare>[A-Za-z_][A-Za-z0-9_]*)"
    r"|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<sign>:?[-=+])(?P<word>[^{}$]*))?\}"
    r"|(?P<odd>\{[^}\n]*\}?)"
    r")"
)


@record
class Variables:
    """Values by name, and the names of encrypted values."""

    values: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    """Names of variables in encrypted files; their values are never read."""


HIDDEN_VALUE_PREFIX = "stockman-hidden-value-of-"
"""Marks the position of an encrypted value in a text."""


def substitute_variables(
    file: str, text: str, variables: Variables, complain: Callable[[Problem], None]
) -> str:
    """Return the text with its variables replaced; comments stay unchanged.

    A variable without a value is reported and stays unchanged.
    """
    skipped = _comment_spans(text)

    def value(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in skipped):
            return match[0]
        if match["dollar"]:
            return "$"
        replaced = None if match["odd"] else _value(match, variables)
        if replaced is None:
            complain(_unset_problem(match, _position(file, text, match.start())))
            return match[0]
        return replaced

    return _VARIABLE.sub(value, text)


def _value(match: re.Match[str], variables: Variables) -> str | None:
    name = match["bare"] or match["name"]
    if name in variables.hidden:
        return f"{HIDDEN_VALUE_PREFIX}{name}"
    sign, default = match["sign"], match["word"] or ""
    known = variables.values.get(name)
    if sign in (":+", "+"):
        return default if known or (known is not None and sign == "+") else ""
    if known:
        return known
    if sign is None:
        return None
    return known if known is not None and not sign.startswith(":") else default


def _comment_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of comments; none if the text cannot be parsed."""
    import yaml

    try:
        comments = find_yaml_comments(text)
    except yaml.YAMLError:
        return []
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return [
        (start := starts[comment.line - 1] + comment.column - 1, start + len(comment.text) + 2)
        for comment in comments.comments
        if comment.line <= len(starts)
    ]


def _position(file: str, text: str, index: int) -> Position:
    before = text[:index]
    return Position(file, before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)


def _unset_problem(match: re.Match[str], at: Position) -> Problem:
    if match["odd"]:
        return Problem(
            code="import.variable",
            what=f"{match[0]} is not a valid variable",
            where=at,
            why="a variable is `${NAME}`, `${NAME:-default}` or `$NAME`, and a dollar sign is `$$`",
            fix="use one of these forms",
        )
    name = match["bare"] or match["name"]
    return Problem(
        code="import.variable",
        what=f"the variable {name} has no value",
        where=at,
        why=f"neither talenv.yaml nor `--variable` sets {name}; a dollar sign is written as `$$`",
        fix=f"add {name} to talenv.yaml, or pass `--variable {name}=...`",
    )
