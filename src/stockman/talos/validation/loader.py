"""The text of a configuration to documents, with all that keeps Talos from reading it."""

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
    """What a misfit is called in a patch, and what in a configuration."""

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
    """The documents of a text. None: Talos cannot read it, and `problems` say why."""
    try:
        return load_documents(file, text, minor)
    except StockmanError as refused:
        found = _collect_problems(file, text, load_schema(minor)) or [refused.problem]
        problems.extend(_with_machine_code(problem) for problem in found)
        return None


def _with_machine_code(problem: Problem) -> Problem:
    return Problem(
        code=_MACHINE_CODES.get(problem.code, problem.code),
        what=problem.what,
        why=problem.why,
        fix=problem.fix,
        where=problem.where,
    )


def _collect_problems(file: str, text: str, known: TypeSchema) -> list[Problem]:
    """What is wrong in each document by itself, each place once."""
    try:
        nodes = read_documents(file, text)
    except InvalidValue:
        return []
    found: dict[Position | None, InvalidValue] = {}

    def note(misfit: InvalidValue) -> None:
        found.setdefault(misfit.at, misfit)

    decoder = _CollectingDecoder(known, note)
    for node in nodes:
        if isinstance(node, MappingNode):
            try:
                decode_document(known, node, decoder)
            except InvalidValue as misfit:
                note(misfit)
    return [misfit.error(file, at).problem for at, misfit in found.items()]


class _CollectingDecoder(Decoder):
    """A decoder that goes on: what does not fit is told, and left out."""

    def __init__(self, known: TypeSchema, note: Callable[[InvalidValue], None]) -> None:
        super().__init__(known, lambda node, path: Origin(node.at, path_text(path)))
        self._note = note

    def decode(self, type_: SchemaType, node: TreeNode, path: Path = ()) -> Tree | None:
        if type_.kind == "struct" and isinstance(node, MappingNode) and type_.free is None:
            node = MappingNode(node.at, self._known(type_, node, path))
        try:
            return super().decode(type_, node, path)
        except InvalidValue as misfit:
            self._note(misfit)
            return None

    def _known(self, type_: SchemaType, node: MappingNode, path: Path) -> dict[str, MappingEntry]:
        if type_.codec and not type_.codec.startswith("x509."):
            return node.entries
        kept = {}
        for key, entry in node.entries.items():
            if key in type_.named:
                kept[key] = entry
            else:
                self._note(unknown_field_error(entry.key, (*path, key), type_))
        return kept
