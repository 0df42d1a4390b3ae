"""Encrypt secret files of a rendering; unchanged files keep their bytes.

Pruned files are kept encrypted in `.stockman/removed` for a component that is enabled again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.file_tree import read_files
from stockman.app.rendering.materials import UNKNOWN
from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets.lock import read_lock
from stockman.app.workspace.secret_names import is_secret_name
from stockman.catalog.component import InputFiles
from stockman.crypto.seal import matches_file, matches_text
from stockman.model.desired import Desired
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm, find_secrets
from stockman.rendering.managed_files import FileAction, FileChange
from stockman.rendering.secret_encodings import secret_encodings
from stockman.rendering.tree import FileTree

if TYPE_CHECKING:
    from stockman.app.secrets.store import SecretStore


_PLACE = ".stockman/removed"


def find_kept_secrets(
    directory: Path, missing: Iterable[str], store: Callable[[], SecretStore]
) -> dict[str, bytes]:
    """Return kept files for missing ones, if their recipients are current."""
    if not (directory / _PLACE).is_dir():
        return {}
    contents = read_files(directory, (f"{_PLACE}/{path}" for path in missing))
    kept = {path.removeprefix(f"{_PLACE}/"): content for path, content in contents.items()}
    return {
        path: content
        for path, content in kept.items()
        if _has_current_recipients(store(), path, content)
    }


def _has_current_recipients(store: SecretStore, path: str, content: bytes) -> bool:
    from stockman.app.secrets.reading import open_secret_file

    if not store.keyring.identities:
        return False
    try:
        recipients = open_secret_file(content, path, store.keyring).metadata.recipients
        return set(recipients) == set(store.recipe(path).recipients)
    except StockmanError:
        return False


def to_keep(done: Iterable[FileChange]) -> dict[str, bytes]:
    """Return pruned files to keep, by their path in the archive."""
    return {
        f"{_PLACE}/{file_change.path}": file_change.before
        for file_change in done
        if file_change.act is FileAction.REMOVE
        and file_change.before is not None
        and is_secret_name(file_change.path)
    }


def to_forget(directory: Path, written: Mapping[str, bytes]) -> list[str]:
    """Return kept files that exist again."""
    kept = (f"{_PLACE}/{path}" for path in written if is_secret_name(path))
    return [path for path in kept if (directory / path).is_file()]


@record
class EncryptedFiles:
    """Encrypted files by path."""

    contents: Mapping[str, bytes]
    uncompared: tuple[str, ...]
    """Files that could not be opened and were compared only by their bytes."""


@record
class Vault:
    """Access to secret files; the store is created on first use."""

    directory: Path
    keyring: Keyring
    store: Callable[[], SecretStore]

    def holds(self, files: Mapping[str, tuple[bytes, str]]) -> bool:
        """Whether the lock says that these bytes were encrypted from these texts."""
        seals, identities = read_lock(self.directory).seals, self.keyring.identities
        return all(
            (seal := seals.get(path)) is not None
            and matches_file(seal, content)
            and matches_text(seal, path, text.encode(), identities)
            for path, (content, text) in files.items()
        )


def encrypt_secret_files(tree: FileTree, disk: Mapping[str, bytes], vault: Vault) -> EncryptedFiles:
    """Return every secret file of a tree in its encrypted form."""
    contents: dict[str, bytes] = {}
    uncompared = []
    for file in tree:
        if not isinstance(file.text, Secret):
            continue
        old = disk.get(file.path)
        if not vault.keyring.identities:
            uncompared.append(file.path)
            if old is not None:
                contents[file.path] = old
            continue
        text = file.text.reveal()
        if old is not None and vault.holds({file.path: (old, text)}):
            contents[file.path] = old
        else:
            contents[file.path] = vault.store().encrypt(file.path, text.encode(), old)
    return EncryptedFiles(contents=contents, uncompared=tuple(uncompared))


def record_seals(contents: Mapping[str, tuple[bytes, str]], vault: Vault) -> None:
    """Record the content of secret files in the lock, so that they need not be opened next time."""
    if vault.keyring.identities and not vault.holds(contents):
        vault.store().record(
            {path: (content, text.encode()) for path, (content, text) in contents.items()}
        )


_SHORTEST = 8
"""Shorter values occur by chance."""
_BETWEEN = "\0"
"""Separates texts, so that nothing matches across two files."""


def check_leaks(tree: FileTree, desired: Desired, materials: InputFiles) -> None:
    """Refuse a tree with a secret in a plain file, verbatim or in a common encoding."""
    plain = [file for file in tree if isinstance(file.text, str)]
    text = _BETWEEN.join(str(file.text) for file in plain)
    for form, name in _search_values(desired, materials).items():
        if form in text:
            held = next(file for file in plain if form in str(file.text))
            raise Refused(_leak(held.path, held.owner, name))


def _search_values(desired: Desired, materials: InputFiles) -> dict[str, str]:
    """Return what to search for, and the name of the secret behind it."""
    return {
        form.decode(errors="surrogateescape"): name
        for name, secret in (*find_secrets(desired), *find_secrets(materials, "materials"))
        if _is_searchable(secret)
        for form in secret_encodings(secret.reveal())
    }


def _is_searchable(secret: Secret) -> bool:
    text = secret.reveal().strip()
    return secret.form is SecretForm.LITERAL and len(text) >= _SHORTEST and text != UNKNOWN


def _leak(path: str, owner: str, name: str) -> Problem:
    return Problem(
        code="render.leak",
        what=f"{owner} would write a secret into {path}",
        where=path,
        why=f"the text of {name} stands in it, and only files named *.sops.* are encrypted",
        fix="give the secret to the component by the name of a Secret object",
    )
