"""Process many secret files; a failure does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from stockman.app.secrets.store import SecretStore
from stockman.app.workspace.secret_names import relative_name
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record


@record
class FileResult:
    """What happened to one file."""

    name: str
    state: Literal["changed", "unchanged", "failed"]
    added: tuple[str, ...] = ()
    """Recipients that the file did not have before."""
    removed: tuple[str, ...] = ()


@record
class BatchResult:
    """What happened to all files."""

    files: tuple[FileResult, ...]
    problems: Problems

    @property
    def changed(self) -> bool:
        return any(file.state == "changed" for file in self.files)


def rotate_all(store: SecretStore, files: Iterable[str]) -> BatchResult:
    """Rotate the data keys of the named files, or of all."""

    def turn(name: str) -> FileResult:
        store.rotate(name)
        return FileResult(name=name, state="changed")

    return _run_batch(store, files, turn)


def rekey_all(store: SecretStore, files: Iterable[str], *, dry_run: bool = False) -> BatchResult:
    """Apply the recipients of the rules to the named files, or to all."""

    def turn(name: str) -> FileResult:
        desired, current = store.recipe(name).recipients, store.metadata(name).recipients
        added = tuple(recipient for recipient in desired if recipient not in current)
        removed = tuple(recipient for recipient in current if recipient not in desired)
        if not dry_run:
            store.rekey(name)
        state: Literal["changed", "unchanged"] = "changed" if added or removed else "unchanged"
        return FileResult(name=name, state=state, added=added, removed=removed)

    return _run_batch(store, files, turn)


def _run_batch(
    store: SecretStore, files: Iterable[str], turn: Callable[[str], FileResult]
) -> BatchResult:
    named = dict.fromkeys(relative_name(store.directory, file) for file in files)
    problems = Problems()
    turns: list[FileResult] = []
    for name in named or store.names():
        try:
            turns.append(turn(name))
        except StockmanError as error:
            problems.add(error.problem)
            turns.append(FileResult(name=name, state="failed"))
    return BatchResult(files=tuple(turns), problems=problems)
