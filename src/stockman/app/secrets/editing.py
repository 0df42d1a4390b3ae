"""Edit a secret file in an editor; plaintext stays in memory and no edit is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from stockman.adapters.ram_files import ram_file
from stockman.app.secrets import problems as trouble
from stockman.app.secrets.bundle import check_bundle, is_bundle_name
from stockman.app.secrets.reading import decrypt_file, is_encrypted, read_secret_file
from stockman.app.secrets.store import SecretStore
from stockman.crypto.sops.files import parse_unencrypted
from stockman.crypto.sops.forms import file_format
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.ports.environment import NoAnswer
from stockman.ports.system import Editor

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
