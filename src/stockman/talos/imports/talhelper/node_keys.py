"""Keys, variables and patches of one node in a `talconfig.yaml`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from stockman.config.comments import find_yaml_comments
from stockman.config.source.tree import (
    MappingEntry,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
    to_plain_data,
)
from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.talos.documents import Document
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignPatch,
    PatchScope,
    ReadFile,
    build_document,
    invalid_patch_problem,
    is_sops_encrypted,
    iter_scalars,
    list_items,
    missing_file_problem,
    read_text,
    template_problem,
)
from stockman.talos.imports.go_template import (
    Data,
    UnsupportedTemplate,
    is_template,
    render_template,
)
from stockman.talos.patches.patch import InvalidValue, Patch, read_documents

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


def operations_as_documents(operations: SequenceNode) -> list[Document] | None:
    """Convert JSON operations to one document each. None: one of them cannot be converted.

    Only operations that do not depend on the existing value: single values set, and keys removed.
    """
    documents: list[Document] = []
    for item in operations.items:
        document = _operation_as_document(item) if isinstance(item, MappingNode) else None
        if document is None:
            return None
        documents.append(document)
    return documents


def _operation_as_document(operation: MappingNode) -> Document | None:
    op, path, value = (operation.get(key) for key in ("op", "path", "value"))
    if not isinstance(op, ScalarNode) or not isinstance(path, ScalarNode) or path.text[:1] != "/":
        return None
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.text[1:].split("/")]
    if any(step == "-" or step.isdecimal() or not step for step in steps):
        return None
    if op.text in ("add", "replace") and isinstance(value, ScalarNode):
        value_tree: object = to_plain_data(value)
    elif op.text == "remove":
        value_tree = {"$patch": "delete"}
    else:
        return None
    for step in reversed(steps):
        value_tree = {step: value_tree}
    return value_tree if isinstance(value_tree, dict) else None


class PatchReader:
    """Reads lists of patches for one machine after the other."""

    def __init__(
        self, foreign: ForeignCluster, read: ReadFile, variables: Variables, text: str
    ) -> None:
        self._foreign = foreign
        self._lines = text.split("\n")
        """Lines of talconfig.yaml with variables replaced."""
        self._read = read
        self._variables = variables
        self._known: dict[tuple[str, str, int], tuple[TreeNode, ...]] = {}

    def patches(
        self, key: str, node: TreeNode | None, scope: PatchScope, data: Data
    ) -> list[ForeignPatch]:
        """Return the documents of all patches of a list; `data` is for their templates."""
        patches: list[ForeignPatch] = []
        for index, item in enumerate(list_items(node)):
            label = f"{key}[{index}]"
            if isinstance(item, ScalarNode):
                patches += self._read_patch(label, item, scope, index, data)
            else:
                self._foreign.problems.add(invalid_patch_problem(label, item.at, "talhelper"))
        return patches

    def content(self, label: str, value: ScalarNode, *, with_variables: bool) -> str | None:
        """Return the text of a file that a value names with `@`, or the value. None: secret."""
        if not value.text.startswith("@"):
            return value.text
        path = value.text[1:].strip().removeprefix("./")
        text = self._text(label, path, value.at)
        if text is None or not with_variables:
            return text
        return substitute_variables(path, text, self._variables, self._foreign.problems.add)

    def _read_patch(
        self, known: str, item: ScalarNode, scope: PatchScope, index: int, data: Data
    ) -> list[ForeignPatch]:
        foreign = self._foreign
        file, label = item.at.file, known
        text, first_line = self._inline_text(item)
        if item.text.startswith("@"):
            text = item.text
        if text.startswith("@"):
            file = label = text[1:].strip().removeprefix("./")
            content = self._text(known, file, item.at)
            if content is None:
                return []
            text, first_line = content, 1
        try:
            if is_template(text):
                text = render_template(file, text, data, first_line)
                how = "a template, which was rendered for each machine"
                foreign.record(label, item.at, "changed", how)
            if label != known:
                text = substitute_variables(file, text, self._variables, foreign.problems.add)
            documents = self._documents(file, text, first_line)
        except UnsupportedTemplate as error:
            foreign.problems.add(template_problem(label, error))
            return []
        except InvalidValue as error:
            foreign.problems.add(error.error(label, error.at).problem)
            return []
        foreign.record(known, item.at, "taken", patch_target(scope))
        written = Patch(label=label, file=file, text=text, first_line=first_line)
        patches = self._build_patches(label, documents, scope, index, item.at)
        return [replace(patch, written=written) for patch in patches]

    def _documents(self, file: str, text: str, first_line: int) -> tuple[TreeNode, ...]:
        """Return the documents of a text; most texts are the same for all machines."""
        key = (file, text, first_line)
        if key not in self._known:
            self._known[key] = read_documents(file, text, first_line)
        return self._known[key]

    def _inline_text(self, item: ScalarNode) -> tuple[str, int]:
        """Return a text with its indentation in the file, and its first line."""
        line = self._lines[item.at.line - 1] if item.at.line <= len(self._lines) else ""
        start = line[item.at.column - 1 : item.at.column]
        if start not in ("|", ">"):
            before = "" if "\n" in item.text else " " * (item.at.column - (start not in "'\""))
            return f"{before}{item.text}", item.at.line
        below = self._lines[item.at.line] if item.at.line < len(self._lines) else ""
        indent = below[: len(below) - len(below.lstrip(" "))]
        if any(line.startswith(("---", "...", "%")) for line in item.text.split("\n")):
            return item.text, item.at.line + 1
        lines = [f"{indent}{text}" if text else text for text in item.text.split("\n")]
        return "\n".join(lines), item.at.line + 1

    def _build_patches(
        self,
        label: str,
        documents: tuple[TreeNode, ...],
        scope: PatchScope,
        index: int,
        at: Position,
    ) -> list[ForeignPatch]:
        patches = []
        for number, document in enumerate(documents):
            if isinstance(document, SequenceNode):
                converted = operations_as_documents(document)
                if converted is None:
                    how = "a list of operations that has no equivalent as a patch document"
                    self._foreign.record(label, document.at, "left out", how)
                    continue
                how = "the operations were converted to a patch document"
                self._foreign.record(label, document.at, "changed", how)
                for step, fields in enumerate(converted):
                    tree = build_document(fields, document.at)
                    patches.append(ForeignPatch(label, scope, (index, number + step), tree))
            elif isinstance(document, MappingNode):
                patches.append(ForeignPatch(label, scope, (index, number), document))
            elif not document.is_null:
                self._foreign.problems.add(invalid_patch_problem(label, at, "talhelper"))
        return patches

    def _text(self, label: str, path: str, at: Position) -> str | None:
        try:
            text = read_text(self._read, path)
        except Unreadable as error:
            self._foreign.problems.add(error.problem)
            return None
        if text is None:
            self._foreign.problems.add(missing_file_problem(path, at, "talhelper"))
        elif is_sops_encrypted(text, path):
            how = "it is encrypted, and would be unencrypted here"
            self._foreign.record(f"{label} ({path})", at, "left out", how)
            return None
        return text
