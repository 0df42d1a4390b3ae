"""The text of a configuration to documents, with all that keeps Talos from reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stockman.config.source.tree import Entry, Mapping, Node
from stockman.model.errors import StockmanError
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Problems
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.decode import Decoder, Path, unknown_field
from stockman.talos.patches.documents import Document, decoded
from stockman.talos.patches.problems import Misfit, path_text
from stockman.talos.patches.reading import read_documents
from stockman.talos.patches.table import Table, Type, table
from stockman.talos.patches.tree import Tree


class _Codes(NamedTuple):
    """What a misfit is called in a patch, and what in a configuration."""

    patch: str
    machine: str


_CODES = (
    _Codes("patch.field", "machine.field"),
    _Codes("patch.kind", "machine.kind"),
    _Codes("patch.result", "machine.clash"),
    _Codes("patch.twice", "machine.twice"),
    _Codes("patch.unreadable", "machine.unreadable"),
    _Codes("patch.value", "machine.value"),
)
_RENAMED = {codes.patch: codes.machine for codes in _CODES}


def loaded(file: str, text: str, minor: str, problems: Problems) -> tuple[Document, ...] | None:
    """The documents of a text. None: Talos cannot read it, and `problems` say why."""
    try:
        return load_documents(file, text, minor)
    except StockmanError as refused:
        found = _all(file, text, table(minor)) or [refused.problem]
        problems.extend(_renamed(problem) for problem in found)
        return None


def _renamed(problem: Problem) -> Problem:
    return Problem(
        code=_RENAMED.get(problem.code, problem.code),
        what=problem.what,
        why=problem.why,
        fix=problem.fix,
        where=problem.where,
    )


def _all(file: str, text: str, known: Table) -> list[Problem]:
    """What is wrong in each document by itself, each place once."""
    try:
        nodes = read_documents(file, text)
    except Misfit:
        return []
    found: dict[Position | None, Misfit] = {}

    def note(misfit: Misfit) -> None:
        found.setdefault(misfit.at, misfit)

    decoder = _Collector(known, note)
    for node in nodes:
        if isinstance(node, Mapping):
            try:
                decoded(known, node, decoder)
            except Misfit as misfit:
                note(misfit)
    return [misfit.error(file, at).problem for at, misfit in found.items()]


class _Collector(Decoder):
    """A decoder that goes on: what does not fit is told, and left out."""

    def __init__(self, known: Table, note: Callable[[Misfit], None]) -> None:
        super().__init__(known, lambda node, path: Origin(node.at, path_text(path)))
        self._note = note

    def decode(self, type_: Type, node: Node, path: Path = ()) -> Tree | None:
        if type_.kind == "struct" and isinstance(node, Mapping) and type_.free is None:
            node = Mapping(node.at, self._known(type_, node, path))
        try:
            return super().decode(type_, node, path)
        except Misfit as misfit:
            self._note(misfit)
            return None

    def _known(self, type_: Type, node: Mapping, path: Path) -> dict[str, Entry]:
        if type_.codec and not type_.codec.startswith("x509."):
            return node.entries
        kept = {}
        for key, entry in node.entries.items():
            if key in type_.named:
                kept[key] = entry
            else:
                self._note(unknown_field(entry.key, (*path, key), type_))
        return kept
