"""Secret files read: inside the workspace only, opened in memory only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.secrets import problems as trouble
from stockman.app.secrets.keyring import Keyring
from stockman.app.workspace.secret_names import outside_workspace
from stockman.model.errors import NotFound, Refused

if TYPE_CHECKING:
    from stockman.crypto.sops.decryption import DecryptedFile

_LONGEST = 64 << 20
_NO_JSON = ("sops.syntax", "sops.unsupported")
"""Encrypted binary files are JSON; what is not, is not encrypted."""


def resolve_path(directory: Path, name: str) -> Path:
    """The place of a file, given relative to the workspace; refuses to leave that."""
    root = directory.resolve()
    path = (root / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(root) or path == root:
        raise outside_workspace(name)
    return path


def read_secret_file(directory: Path, name: str) -> bytes | None:
    """The bytes of a file on disk; None: there is none."""
    path = resolve_path(directory, name)
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise trouble.unreadable_file(name, error.strerror or type(error).__name__) from None
    if len(content) > _LONGEST:
        raise trouble.unreadable_file(name, "it is larger than 64 MiB")
    return content


def open_secret_file(content: bytes, name: str, keyring: Keyring) -> DecryptedFile:
    """An encrypted file, opened and proven whole; says what is missing where it cannot be."""
    from stockman.crypto.sops.decryption import open_file_with

    return open_file_with(
        content, name, lambda recipients: keyring.identities_for(recipients, name)
    )


def open_for_reading(content: bytes, name: str, keyring: Keyring) -> DecryptedFile:
    """The same for those who change nothing in it: opened once while its bytes stay the same."""
    known = keyring.cache.get(name)
    if known is None or known[0] != content:
        known = keyring.cache[name] = content, open_secret_file(content, name, keyring)
    return known[1]


def decrypt_file(content: bytes, name: str, keyring: Keyring) -> bytes:
    """The plaintext of an encrypted file."""
    from stockman.crypto.sops.decryption import plaintext

    return plaintext(open_secret_file(content, name, keyring))


def is_encrypted(content: bytes, name: str) -> bool:
    """Whether a file is encrypted at all; a damaged one is refused, not called plain."""
    from stockman.crypto.sops.decryption import file_metadata
    from stockman.crypto.sops.forms import FileFormat, file_format

    try:
        file_metadata(content, name)
    except NotFound:
        return False
    except Refused as error:
        if file_format(name) is FileFormat.BINARY and error.problem.code in _NO_JSON:
            return False
        raise
    return True
