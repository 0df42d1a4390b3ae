"""Get and set single values or whole contents of secret files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from stockman.adapters.files import ram_file
from stockman.app.secrets import problems as trouble
from stockman.app.secrets.bundle import check_bundle, is_bundle_name
from stockman.app.secrets.reading import decrypt_file, is_encrypted, read_secret_file
from stockman.app.secrets.store import SecretStore
from stockman.app.workspace.secret_names import relative_name
from stockman.crypto.sops.files import parse_unencrypted
from stockman.crypto.sops.forms import file_format
from stockman.crypto.sops.paths import ValuePath as Steps
from stockman.crypto.sops.paths import format_path, parse_path
from stockman.crypto.sops.scalars import INT_MAX, INT_MIN, SopsValue
from stockman.crypto.sops.update import (
    NewValue,
    PlainData,
    data_at,
    format_value,
    list_paths,
    to_data,
    value_at,
)
from stockman.model.errors import StockmanError, WrongUsage
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.ports.environment import NoAnswer
from stockman.ports.system import Editor

_LONGEST = 64 << 20


def read_all(store: SecretStore, name: str) -> PlainData:
    """Return the whole content of a file."""
    return to_data(store.open(name))


def read_value_at(store: SecretStore, name: str, path: str) -> PlainData:
    """Return the value at a path of a file, also a mapping or a list."""
    return data_at(store.open(name), steps(path))


def read_text_at(store: SecretStore, name: str, path: str) -> bytes:
    """Return a single value at a path as bytes."""
    value = value_at(store.open(name), steps(path))
    return format_value(value).encode("utf-8", "surrogateescape")


def paths_in(store: SecretStore, name: str, path: str | None) -> tuple[str, ...]:
    """Return the paths of all values of a file, or of those below a path."""
    above = steps(path) if path else ()
    matching = [path_ for path_ in list_paths(store.open(name)) if path_[: len(above)] == above]
    return tuple(format_path(path_) for path_ in matching)


def put_value(
    store: SecretStore, name: str, path: str, content: bytes, *, as_json: bool = False
) -> bool:
    """Set a value at a path of a file; return whether it changed."""
    where = steps(path)
    value = _json_value(content) if as_json else _text(content)
    return store.set_value(name, NewValue(path=where, value=value))


def put_all(store: SecretStore, name: str, content: bytes) -> bool:
    """Replace the content of a file; return whether it changed."""
    if is_bundle_name(name):
        check_bundle(name, content)
    return store.write(name, content)


def value_from_file(source: Path) -> bytes:
    """Return the content of a file as a value."""
    try:
        with source.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise trouble.unreadable_file(str(source), error.strerror or type(error).__name__) from None
    if len(content) > _LONGEST:
        raise trouble.unreadable_file(str(source), "it is larger than 64 MiB")
    return content


def value_from_stdin(content: bytes) -> bytes:
    """Return the value from stdin; refuse empty input, which a failed command produces."""
    if not content:
        raise trouble.bad_value("nothing came from stdin")
    return content


def steps(path: str) -> Steps:
    """Parse a path that a user typed."""
    try:
        return parse_path(path)
    except ValueError as error:
        raise WrongUsage(trouble.bad_path(path, str(error))) from None


def _text(content: bytes) -> str:
    """Return the value in a text, without the newline after a single line."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise trouble.bad_value("it is not UTF-8 text") from None
    line = text.removesuffix("\n").removesuffix("\r")
    return text if "\n" in line else line


def _json_value(content: bytes) -> SopsValue:
    try:
        value: object = json.loads(content)
    except ValueError:
        raise trouble.bad_value("it is no JSON") from None
    if isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
        raise trouble.bad_value("SOPS holds whole numbers of 64 bits")
    if value is None or not isinstance(value, str | int | float):
        raise trouble.bad_value("it is no text, number, true or false")
    return value


Outcome = Literal["written", "unchanged", "abandoned"]
"""`abandoned`: the edit was invalid and the user discarded it."""

AskToRetry = Callable[[Problem], bool]
"""Shows what is wrong with an edit and asks whether to edit again."""


class EditingContext:
    """The editor, and directories in memory."""

    def __init__(self, editor: Editor, directories: Iterable[Path], again: AskToRetry) -> None:
        self._editor = editor
        self._directories = tuple(directories)
        self.again = again

    def file(self, name: str, tag: str) -> AbstractContextManager[Path]:
        return ram_file(self._directories, Path(name).name, tag)

    def edit(self, path: Path) -> None:
        try:
            self._editor.edit(path)
        except NoAnswer as none:
            raise trouble.no_editor(str(none)) from None


def edit_secret(store: SecretStore, name: str, desk: EditingContext) -> Outcome:
    """Let the user change or create a file; reopen the editor if encryption fails."""
    old = read_secret_file(store.directory, name)
    if old is None or not is_encrypted(old, name):
        store.recipe(name)  # check that a rule exists before the user edits
        before = old or b""
    else:
        before = decrypt_file(old, name, store.keyring)
    try:
        with desk.file(name, store.tag()) as path:
            path.write_bytes(before)
            return _edit_text(store, name, desk, path, old)
    except NoAnswer as none:
        raise trouble.no_memory(name, str(none)) from None


def _edit_text(
    store: SecretStore, name: str, desk: EditingContext, path: Path, old: bytes | None
) -> Outcome:
    before = path.read_bytes()
    encrypts = old is not None and not is_encrypted(old, name)
    refused: bytes | None = None
    while True:
        desk.edit(path)
        text = path.read_bytes()
        if text == before and not encrypts:
            return "unchanged"
        if text == refused:
            return "abandoned"
        try:
            _check(name, text)
            return "written" if store.write(name, text, expected=old) else "unchanged"
        except StockmanError as error:
            if not desk.again(error.problem):
                return "abandoned"
            refused = text


def _check(name: str, text: bytes) -> None:
    parse_unencrypted(text, file_format(name), name)
    if is_bundle_name(name):
        check_bundle(name, text)


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
