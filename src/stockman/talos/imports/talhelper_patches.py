"""Patches as talhelper takes them: in place or from files, with templates and variables."""

from __future__ import annotations

from dataclasses import replace

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import Mapping, Node, Scalar, Sequence
from stockman.model.origin import Position
from stockman.talos.imports.files import Read, is_sealed, read_text
from stockman.talos.imports.foreign import Foreign, Piece, Scope, document, items
from stockman.talos.imports.go_template import Data, NotUnderstood, is_template, rendered
from stockman.talos.imports.operations import as_part
from stockman.talos.imports.problems import bad_template, missing_file, no_patch
from stockman.talos.imports.talhelper_given import target
from stockman.talos.imports.variables import Variables, substituted
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.problems import Misfit
from stockman.talos.patches.reading import read_documents


class PatchReader:
    """Reads the patches of a list for one machine after the other."""

    def __init__(self, foreign: Foreign, read: Read, variables: Variables, text: str) -> None:
        self._foreign = foreign
        self._lines = text.split("\n")
        """Of talconfig.yaml, variables replaced."""
        self._read = read
        self._variables = variables
        self._known: dict[tuple[str, str, int], tuple[Node, ...]] = {}

    def patches(self, key: str, node: Node | None, scope: Scope, data: Data) -> list[Piece]:
        """The documents of all patches of a list, for a machine that templates are told of."""
        found: list[Piece] = []
        for index, item in enumerate(items(node)):
            known = f"{key}[{index}]"
            if isinstance(item, Scalar):
                found += self._patch(known, item, scope, index, data)
            else:
                self._foreign.problems.add(no_patch(known, item.at, "talhelper"))
        return found

    def content(self, known: str, value: Scalar, *, with_variables: bool) -> str | None:
        """The text of a file that a value names with `@`, or the value itself; None: secret."""
        if not value.text.startswith("@"):
            return value.text
        path = value.text[1:].strip().removeprefix("./")
        text = self._text(known, path, value.at)
        if text is None or not with_variables:
            return text
        return substituted(path, text, self._variables, self._foreign.problems.add)

    def _patch(self, known: str, item: Scalar, scope: Scope, index: int, data: Data) -> list[Piece]:
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
                text = rendered(file, text, data, first_line)
                how = "a template, which is filled in for each machine now"
                foreign.say(label, item.at, "changed", how)
            if label != known:
                text = substituted(file, text, self._variables, foreign.problems.add)
            documents = self._documents(file, text, first_line)
        except NotUnderstood as error:
            foreign.problems.add(bad_template(label, error))
            return []
        except Misfit as misfit:
            foreign.problems.add(misfit.error(label, misfit.at).problem)
            return []
        foreign.say(known, item.at, "taken", target(scope))
        written = Patch(label=label, file=file, text=text, first_line=first_line)
        found = self._pieces(label, documents, scope, index, item.at)
        return [replace(piece, written=written) for piece in found]

    def _documents(self, file: str, text: str, first_line: int) -> tuple[Node, ...]:
        """The documents of a text; most texts are the same for all machines."""
        key = (file, text, first_line)
        if key not in self._known:
            self._known[key] = read_documents(file, text, first_line)
        return self._known[key]

    def _in_place(self, item: Scalar) -> tuple[str, int]:
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
        self, label: str, documents: tuple[Node, ...], scope: Scope, index: int, at: Position
    ) -> list[Piece]:
        found = []
        for number, one in enumerate(documents):
            if isinstance(one, Sequence):
                part = as_part(one)
                if part is None:
                    how = "a list of operations that no part of a configuration says"
                    self._foreign.say(label, one.at, "left out", how)
                    continue
                how = "operations are written as the part of the configuration that they change"
                self._foreign.say(label, one.at, "changed", how)
                for step, piece in enumerate(part):
                    whole = document(piece, one.at)
                    found.append(Piece(label, scope, (index, number + step), whole))
            elif isinstance(one, Mapping):
                found.append(Piece(label, scope, (index, number), one))
            elif not one.is_null:
                self._foreign.problems.add(no_patch(label, at, "talhelper"))
        return found

    def _text(self, known: str, path: str, at: Position) -> str | None:
        try:
            text = read_text(self._read, path)
        except Unreadable as unreadable:
            self._foreign.problems.add(unreadable.problem)
            return None
        if text is None:
            self._foreign.problems.add(missing_file(path, at, "talhelper"))
        elif is_sealed(text, path):
            how = "it is encrypted, and would be in the clear here"
            self._foreign.say(f"{known} ({path})", at, "left out", how)
            return None
        return text
