"""What the directory of another tool says, in one form for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from stockman.config.convert.draft import ConfigDraft
from stockman.config.convert.result import ConvertedKey, KeyState
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
)
from stockman.model.compatibility import talos_lines
from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.model.version import Version
from stockman.talos.imports.go_template import UnsupportedTemplate
from stockman.talos.machine.inputs import Document
from stockman.talos.patches.patch import Patch

PatchScope = Literal["all", "controller", "worker", "node"]
PatchOrder = Literal["specific", "talhelper"]
_ITEM = re.compile(r"\[\d+\][^\[\]]*\Z")
NOWHERE = Position("", 0, 0)


@dataclass(slots=True, frozen=True)
class ForeignPatch:
    """One document that is merged into a machine's configuration."""

    label: str
    """What the user calls it: the name of its file, or the path of its key."""
    scope: PatchScope
    place: tuple[int, int]
    """Which patch of its scope it is, and which document of that."""
    document: MappingNode
    written: Patch | None = None
    """The patch as it stands in its file. None: it was made of a key."""

    @property
    def at(self) -> Position:
        return self.document.at


@dataclass(slots=True)
class ForeignNode:
    """One machine."""

    name: str
    at: Position
    is_controller: bool
    keys: MappingNode
    """Its keys in our words, without network and patches."""
    base: list[Document]
    """What the tool makes before any patch, without secrets."""
    extra: list[ForeignPatch]
    """What of the base only patches can say here."""
    pieces: list[ForeignPatch]
    """What the tool merges into the base, in its order."""
    address: str = ""
    """Empty: not known."""
    devices: list[Document] = field(default_factory=list)
    """Links in the words of the v1alpha1 document."""
    devices_at: Position = NOWHERE
    installer_at: Position = NOWHERE
    mac: str = ""
    """Empty: only the links tell it."""


@dataclass(slots=True)
class ForeignCluster:
    """A whole cluster."""

    tool: str
    building: ConfigDraft
    contract: str = "1.13"
    order: PatchOrder = "specific"
    nodes: list[ForeignNode] = field(default_factory=list)
    said: dict[str, dict[ConvertedKey, None]] = field(default_factory=dict)
    """What became of keys, by their names."""
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)
    lists: set[str] = field(default_factory=set)
    """Names of lists of which an item was spoken of."""
    files: dict[str, str] = field(default_factory=dict)
    """Files that are taken over as they are, by their new names."""

    def say(self, key: str, at: Position, state: KeyState, how: str) -> None:
        """Note what becomes of a key. What is left out in the end was not taken."""
        known = self.said.setdefault(key, {})
        if state == "left out":
            for other in [one for one in known if one.state == "taken"]:
                del known[other]
        known[ConvertedKey(key=key, at=at, state=state, how=how)] = None
        self.lists.add(_ITEM.sub("", key))


def build_node(value: object, at: Position) -> TreeNode:
    """A value as a tree that stands at one place."""
    if isinstance(value, dict):
        entries = {
            str(key): MappingEntry(_build_scalar(str(key), at), build_node(one, at))
            for key, one in value.items()
        }
        return MappingNode(at, entries)
    if isinstance(value, list | tuple):
        return SequenceNode(at, [build_node(item, at) for item in value])
    if isinstance(value, str):
        return _build_scalar(value, at)
    text = "null" if value is None else str(value)
    return ScalarNode(
        text.lower() if isinstance(value, bool) else text, at, plain=True, span=(0, 0)
    )


def build_document(value: Document, at: Position) -> MappingNode:
    """A document as a tree that stands at one place."""
    found = build_node(value, at)
    return found if isinstance(found, MappingNode) else MappingNode(at)


def nest_value(path: str, value: TreeNode, at: Position | None = None) -> MappingNode:
    """A document in which a value stands at a path of keys."""
    for key in reversed(path.split(".")):
        value = MappingNode(
            at or value.at, {key: MappingEntry(_build_scalar(key, at or value.at), value)}
        )
    return value if isinstance(value, MappingNode) else MappingNode(value.at)


def list_items(node: TreeNode | None) -> list[TreeNode]:
    """The items of a list; none for anything else."""
    return list(node.items) if isinstance(node, SequenceNode) else []


def iter_scalars(node: TreeNode) -> Iterator[ScalarNode]:
    """Every text of a tree, keys included."""
    if isinstance(node, ScalarNode):
        yield node
    elif isinstance(node, MappingNode):
        for entry in node.entries.values():
            yield entry.key
            yield from iter_scalars(entry.value)
    else:
        for item in node.items:
            yield from iter_scalars(item)


def source_files(node: TreeNode) -> set[str]:
    """The files that the values of a tree stand in."""
    found = {node.at.file}
    if isinstance(node, MappingNode):
        for entry in node.entries.values():
            found |= {entry.key.at.file} | source_files(entry.value)
    elif isinstance(node, SequenceNode):
        for item in node.items:
            found |= source_files(item)
    return found


def _build_scalar(text: str, at: Position) -> ScalarNode:
    return ScalarNode(text, at, plain=False, span=(0, 0))


NEWEST_SUPPORTED_CONTRACT = (1, 13)
"""The newest contract in which other tools make machines as Talos itself does."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.\d+\S*")


def set_contract(foreign: ForeignCluster, text: str, at: Position) -> bool:
    """Take the style of machines from a version; False: it is none that is known."""
    found = _VERSION.fullmatch(text) if _is_version(text) else None
    lines = [line.line.minor_text for line in talos_lines()]
    if found is not None and f"{found[1]}.{found[2]}" in lines:
        line = (int(found[1]), int(found[2]))
        foreign.contract = ".".join(map(str, min(line, NEWEST_SUPPORTED_CONTRACT)))
        if line > NEWEST_SUPPORTED_CONTRACT:
            foreign.notes.append(
                f"{foreign.tool} knows a draft of the style of Talos {found[1]}.{found[2]}; "
                f"machines are written, and compared, in that of {foreign.contract}"
            )
        return True
    foreign.problems.add(
        Problem(
            code="import.version",
            what=f"{text!r} is no version of Talos that is known here",
            where=at,
            why=f"what a machine is told depends on it; known are {lines[0]} to {lines[-1]}",
            fix=f"write a version such as v{lines[-1]}.1, or upgrade the cluster first",
        )
    )
    return False


def check_kubernetes_version(foreign: ForeignCluster, text: str, at: Position) -> None:
    """Tell of a version of Kubernetes that is none."""
    if not _is_version(text):
        foreign.problems.add(
            Problem(
                code="import.version",
                what=f"{text!r} is no version of Kubernetes",
                where=at,
                why="every machine is told which images to run",
                fix="write a version such as v1.36.0",
            )
        )


def _is_version(text: str) -> bool:
    try:
        Version.parse(text.removeprefix("v"))
    except ValueError:
        return False
    return True


def missing_file_problem(path: str, where: Position | str, tool: str) -> Problem:
    return Problem(
        code="import.missing-file",
        what=f"{path} does not exist",
        where=where,
        why=f"{tool} would stop here as well",
        fix="put the file there, or remove what names it",
    )


def missing_key_problem(key: str, at: Position, tool: str) -> Problem:
    return Problem(
        code="config.missing-key",
        what=f"{key} is missing",
        where=at,
        why=f"{tool} cannot do without it, and nothing is guessed here",
        fix=f"add `{key.rpartition('.')[2]}:`",
    )


def no_nodes_problem(at: Position) -> Problem:
    return Problem(
        code="import.no-nodes",
        what=f"{at.file} names no nodes",
        where=at,
        why="a cluster without machines has nothing to take over",
        fix="check that this is the right directory",
    )


def not_a_mapping_problem(what: str, at: Position) -> Problem:
    return Problem(
        code="config.not-a-mapping",
        what=f"{what} is no mapping of keys",
        where=at,
        why="a node has keys, such as its name and address",
        fix="write the node's keys",
    )


def invalid_patch_problem(what: str, at: Position, tool: str) -> Problem:
    return Problem(
        code="patch.form",
        what=f"{what} is not a part of a configuration",
        where=at,
        why=f"{tool} takes texts of keys, or files with keys in them",
        fix="write keys, such as `machine: {sysctls: {...}}`",
    )


def template_problem(label: str, error: UnsupportedTemplate) -> Problem:
    return Problem(
        code="import.template",
        what=f"{label} is a template that is not understood",
        where=error.at,
        why=error.why,
        fix="write what it gives into the patch, or one patch per node",
    )
