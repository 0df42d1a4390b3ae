"""Read secret files inside the workspace and open them in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.secrets import problems as trouble
from stockman.app.secrets.keyring import Keyring
from stockman.app.workspace.secret_names import outside_workspace
from stockman.model.errors import NotFound, Refused

if TYPE_CHECKING:
    from stockman.crypto.sops.files import DecryptedFile

_LONGEST = 64 << 20
_NO_JSON = ("sops.syntax", "sops.unsupported")
"""Encrypted binary files are JSON; anything else is not encrypted."""


def resolve_path(directory: Path, name: str) -> Path:
    """Return the path of a file relative to the workspace; refuse to leave it."""
    root = directory.resolve()
    path = (root / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(root) or path == root:
        raise outside_workspace(name)
    return path


def read_secret_file(directory: Path, name: str) -> bytes | None:
    """Return the bytes of a file. None: it does not exist."""
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
    """Decrypt and verify a file; say what is missing if that fails."""
    from stockman.crypto.sops.files import open_file_with

    return open_file_with(
        content, name, lambda recipients: keyring.identities_for(recipients, name)
    )


def open_for_reading(content: bytes, name: str, keyring: Keyring) -> DecryptedFile:
    """Decrypt a file for reading; cached as long as its bytes stay the same."""
    known = keyring.cache.get(name)
    if known is None or known[0] != content:
        known = keyring.cache[name] = content, open_secret_file(content, name, keyring)
    return known[1]


def decrypt_file(content: bytes, name: str, keyring: Keyring) -> bytes:
    """Return the plaintext of an encrypted file."""
    from stockman.crypto.sops.files import plaintext

    return plaintext(open_secret_file(content, name, keyring))


def is_encrypted(content: bytes, name: str) -> bool:
    """Whether a file is encrypted; a damaged one is refused."""
    from stockman.crypto.sops.files import file_metadata
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
