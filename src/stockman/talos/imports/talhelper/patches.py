"""Lists of JSON operations as the parts of a configuration that they change."""

from __future__ import annotations

from dataclasses import replace

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    to_plain_data,
)
from stockman.model.origin import Position
from stockman.talos.imports.files import ReadFile, is_sops_encrypted, read_text
from stockman.talos.imports.foreign import (
    ForeignCluster,
    ForeignPatch,
    PatchScope,
    build_document,
    invalid_patch_problem,
    list_items,
    missing_file_problem,
    template_problem,
)
from stockman.talos.imports.go_template import (
    Data,
    UnsupportedTemplate,
    is_template,
    render_template,
)
from stockman.talos.imports.talhelper.node_keys import patch_target
from stockman.talos.imports.talhelper.variables import Variables, substitute_variables
from stockman.talos.machine.inputs import Document
from stockman.talos.patches.patch import InvalidValue, Patch
from stockman.talos.patches.reader import read_documents


def operations_as_documents(operations: SequenceNode) -> list[Document] | None:
    """One part for each operation. None: one of them has no such form.

    Only what means the same whatever stands there: single values set, and keys removed.
    """
    found: list[Document] = []
    for item in operations.items:
        part = _operation_as_document(item) if isinstance(item, MappingNode) else None
        if part is None:
            return None
        found.append(part)
    return found


def _operation_as_document(operation: MappingNode) -> Document | None:
    op, path, value = (operation.get(key) for key in ("op", "path", "value"))
    if not isinstance(op, ScalarNode) or not isinstance(path, ScalarNode) or path.text[:1] != "/":
        return None
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.text[1:].split("/")]
    if any(step == "-" or step.isdecimal() or not step for step in steps):
        return None
    if op.text in ("add", "replace") and isinstance(value, ScalarNode):
        last: object = to_plain_data(value)
    elif op.text == "remove":
        last = {"$patch": "delete"}
    else:
        return None
    for step in reversed(steps):
        last = {step: last}
    return last if isinstance(last, dict) else None


class PatchReader:
    """Reads the patches of a list for one machine after the other."""

    def __init__(
        self, foreign: ForeignCluster, read: ReadFile, variables: Variables, text: str
    ) -> None:
        self._foreign = foreign
        self._lines = text.split("\n")
        """Of talconfig.yaml, variables replaced."""
        self._read = read
        self._variables = variables
        self._known: dict[tuple[str, str, int], tuple[TreeNode, ...]] = {}

    def patches(
        self, key: str, node: TreeNode | None, scope: PatchScope, data: Data
    ) -> list[ForeignPatch]:
        """The documents of all patches of a list, for a machine that templates are told of."""
        found: list[ForeignPatch] = []
        for index, item in enumerate(list_items(node)):
            known = f"{key}[{index}]"
            if isinstance(item, ScalarNode):
                found += self._patch(known, item, scope, index, data)
            else:
                self._foreign.problems.add(invalid_patch_problem(known, item.at, "talhelper"))
        return found

    def content(self, known: str, value: ScalarNode, *, with_variables: bool) -> str | None:
        """The text of a file that a value names with `@`, or the value itself; None: secret."""
        if not value.text.startswith("@"):
            return value.text
        path = value.text[1:].strip().removeprefix("./")
        text = self._text(known, path, value.at)
        if text is None or not with_variables:
            return text
        return substitute_variables(path, text, self._variables, self._foreign.problems.add)

    def _patch(
        self, known: str, item: ScalarNode, scope: PatchScope, index: int, data: Data
    ) -> list[ForeignPatch]:
        foreign = self._foreign
        file, label = item.at.file, known
        text, first_line = self._in_place(item)
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
                how = "a template, which is filled in for each machine now"
                foreign.say(label, item.at, "changed", how)
            if label != known:
                text = substitute_variables(file, text, self._variables, foreign.problems.add)
            documents = self._documents(file, text, first_line)
        except UnsupportedTemplate as error:
            foreign.problems.add(template_problem(label, error))
            return []
        except InvalidValue as misfit:
            foreign.problems.add(misfit.error(label, misfit.at).problem)
            return []
        foreign.say(known, item.at, "taken", patch_target(scope))
        written = Patch(label=label, file=file, text=text, first_line=first_line)
        found = self._pieces(label, documents, scope, index, item.at)
        return [replace(piece, written=written) for piece in found]

    def _documents(self, file: str, text: str, first_line: int) -> tuple[TreeNode, ...]:
        """The documents of a text; most texts are the same for all machines."""
        key = (file, text, first_line)
        if key not in self._known:
            self._known[key] = read_documents(file, text, first_line)
        return self._known[key]

    def _in_place(self, item: ScalarNode) -> tuple[str, int]:
        """A text that stands in the file, with its indentation there, and its first line."""
        line = self._lines[item.at.line - 1] if item.at.line <= len(self._lines) else ""
        start = line[item.at.column - 1 : item.at.column]
        if start not in ("|", ">"):
            before = "" if "\n" in item.text else " " * (item.at.column - (start not in "'\""))
            return f"{before}{item.text}", item.at.line
        below = self._lines[item.at.line] if item.at.line < len(self._lines) else ""
        indent = below[: len(below) - len(below.lstrip(" "))]
        if any(one.startswith(("---", "...", "%")) for one in item.text.split("\n")):
            return item.text, item.at.line + 1
        lines = [f"{indent}{one}" if one else one for one in item.text.split("\n")]
        return "\n".join(lines), item.at.line + 1

    def _pieces(
        self,
        label: str,
        documents: tuple[TreeNode, ...],
        scope: PatchScope,
        index: int,
        at: Position,
    ) -> list[ForeignPatch]:
        found = []
        for number, one in enumerate(documents):
            if isinstance(one, SequenceNode):
                part = operations_as_documents(one)
                if part is None:
                    how = "a list of operations that no part of a configuration says"
                    self._foreign.say(label, one.at, "left out", how)
                    continue
                how = "operations are written as the part of the configuration that they change"
                self._foreign.say(label, one.at, "changed", how)
                for step, piece in enumerate(part):
                    whole = build_document(piece, one.at)
                    found.append(ForeignPatch(label, scope, (index, number + step), whole))
            elif isinstance(one, MappingNode):
                found.append(ForeignPatch(label, scope, (index, number), one))
            elif not one.is_null:
                self._foreign.problems.add(invalid_patch_problem(label, at, "talhelper"))
        return found

    def _text(self, known: str, path: str, at: Position) -> str | None:
        try:
            text = read_text(self._read, path)
        except Unreadable as unreadable:
            self._foreign.problems.add(unreadable.problem)
            return None
        if text is None:
            self._foreign.problems.add(missing_file_problem(path, at, "talhelper"))
        elif is_sops_encrypted(text, path):
            how = "it is encrypted, and would be in the clear here"
            self._foreign.say(f"{known} ({path})", at, "left out", how)
            return None
        return text
