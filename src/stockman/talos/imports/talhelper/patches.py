"""Read the patches of a `talconfig.yaml`: inline or from files, with templates and variables."""

from __future__ import annotations

from dataclasses import replace

from stockman.config.source.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    Unreadable,
    to_plain_data,
)
from stockman.model.origin import Position
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignPatch,
    PatchScope,
    ReadFile,
    build_document,
    invalid_patch_problem,
    is_sops_encrypted,
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
from stockman.talos.imports.talhelper.node_keys import Variables, patch_target, substitute_variables
from stockman.talos.machine.inputs import Document
from stockman.talos.patches.patch import InvalidValue, Patch, read_documents


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
