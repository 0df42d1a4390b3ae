"""Load the text of a configuration, and report everything that prevents Talos from reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stockman.config.source.tree import MappingEntry, MappingNode, TreeNode
from stockman.model.errors import StockmanError
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Problems
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.decode import Decoder, Path, unknown_field_error
from stockman.talos.patches.documents import ConfigDocument, decode_document
from stockman.talos.patches.patch import InvalidValue, path_text
from stockman.talos.patches.reader import read_documents
from stockman.talos.patches.schema import SchemaType, TypeSchema, load_schema
from stockman.talos.patches.tree import Tree


class _ProblemCodes(NamedTuple):
    """The code of a problem in a patch, and in a configuration."""

    patch: str
    machine: str


_CODES = (
    _ProblemCodes("patch.field", "machine.field"),
    _ProblemCodes("patch.kind", "machine.kind"),
    _ProblemCodes("patch.result", "machine.clash"),
    _ProblemCodes("patch.twice", "machine.twice"),
    _ProblemCodes("patch.unreadable", "machine.unreadable"),
    _ProblemCodes("patch.value", "machine.value"),
)
_MACHINE_CODES = {codes.patch: codes.machine for codes in _CODES}


def load_configuration(
    file: str, text: str, minor: str, problems: Problems
) -> tuple[ConfigDocument, ...] | None:
    """Return the documents of a text. None: Talos cannot read it, and `problems` say why."""
    try:
        return load_documents(file, text, minor)
    except StockmanError as error:
        collected = _collect_problems(file, text, load_schema(minor)) or [error.problem]
        problems.extend(_with_machine_code(problem) for problem in collected)
        return None


def _with_machine_code(problem: Problem) -> Problem:
    return Problem(
        code=_MACHINE_CODES.get(problem.code, problem.code),
        what=problem.what,
        why=problem.why,
        fix=problem.fix,
        where=problem.where,
    )


def _collect_problems(file: str, text: str, schema: TypeSchema) -> list[Problem]:
    """Return the problems of each document on its own, one per position."""
    try:
        nodes = read_documents(file, text)
    except InvalidValue:
        return []
    errors: dict[Position | None, InvalidValue] = {}

    def note(error: InvalidValue) -> None:
        errors.setdefault(error.at, error)

    decoder = _CollectingDecoder(schema, note)
    for node in nodes:
        if isinstance(node, MappingNode):
            try:
                decode_document(schema, node, decoder)
            except InvalidValue as error:
                note(error)
    return [error.error(file, at).problem for at, error in errors.items()]


class _CollectingDecoder(Decoder):
    """A decoder that records invalid values, leaves them out, and continues."""

    def __init__(self, schema: TypeSchema, note: Callable[[InvalidValue], None]) -> None:
        super().__init__(schema, lambda node, path: Origin(node.at, path_text(path)))
        self._note = note

    def decode(self, type_: SchemaType, node: TreeNode, path: Path = ()) -> Tree | None:
        if type_.kind == "struct" and isinstance(node, MappingNode) and type_.free is None:
            node = MappingNode(node.at, self._known_entries(type_, node, path))
        try:
            return super().decode(type_, node, path)
        except InvalidValue as error:
            self._note(error)
            return None

    def _known_entries(
        self, type_: SchemaType, node: MappingNode, path: Path
    ) -> dict[str, MappingEntry]:
        if type_.codec and not type_.codec.startswith("x509."):
            return node.entries
        kept = {}
        for key, entry in node.entries.items():
            if key in type_.named:
                kept[key] = entry
            else:
                self._note(unknown_field_error(entry.key, (*path, key), type_))
        return kept
