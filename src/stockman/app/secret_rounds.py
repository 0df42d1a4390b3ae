"""Work on many secret files: each by itself, and what fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from stockman.app.secret_names import name_of
from stockman.app.secret_store import SecretStore
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class Turn:
    """What became of one file."""

    name: str
    state: Literal["changed", "unchanged", "failed"]
    added: tuple[str, ...] = ()
    """Recipients that the file has now and had not before."""
    removed: tuple[str, ...] = ()


@record
class Round:
    """What became of all files."""

    files: tuple[Turn, ...]
    problems: Problems

    @property
    def changed(self) -> bool:
        return any(file.state == "changed" for file in self.files)


def rotate_all(store: SecretStore, files: Iterable[str]) -> Round:
    """New data keys for the files named, or for all."""

    def turn(name: str) -> Turn:
        store.rotate(name)
        return Turn(name=name, state="changed")

    return _round(store, files, turn)


def rekey_all(store: SecretStore, files: Iterable[str], *, dry_run: bool = False) -> Round:
    """The recipients of the rules for the files named, or for all."""

    def turn(name: str) -> Turn:
        wanted, there = store.recipe(name).recipients, store.metadata(name).recipients
        added = tuple(one for one in wanted if one not in there)
        removed = tuple(one for one in there if one not in wanted)
        if not dry_run:
            store.rekey(name)
        state: Literal["changed", "unchanged"] = "changed" if added or removed else "unchanged"
        return Turn(name=name, state=state, added=added, removed=removed)

    return _round(store, files, turn)


def _round(store: SecretStore, files: Iterable[str], turn: Callable[[str], Turn]) -> Round:
    named = dict.fromkeys(name_of(store.directory, file) for file in files)
    problems = Problems()
    turns: list[Turn] = []
    for name in named or store.names():
        try:
            turns.append(turn(name))
        except StockmanError as error:
            problems.add(error.problem)
            turns.append(Turn(name=name, state="failed"))
    return Round(files=tuple(turns), problems=problems)
