"""Secret files read: inside the workspace only, opened in memory only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app import secret_problems as trouble
from stockman.app.keyring import Keyring
from stockman.app.secret_names import outside
from stockman.model.errors import NotFound, Refused

if TYPE_CHECKING:
    from stockman.crypto.sops.opening import Opened

_LONGEST = 64 << 20
_NO_JSON = ("sops.syntax", "sops.unsupported")
"""Encrypted binary files are JSON; what is not, is not encrypted."""


def located(directory: Path, name: str) -> Path:
    """The place of a file, given relative to the workspace; refuses to leave that."""
    root = directory.resolve()
    path = (root / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(root) or path == root:
        raise outside(name)
    return path


def read_secret_file(directory: Path, name: str) -> bytes | None:
    """The bytes of a file on disk; None: there is none."""
    path = located(directory, name)
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise trouble.unreadable(name, error.strerror or type(error).__name__) from None
    if len(content) > _LONGEST:
        raise trouble.unreadable(name, "it is larger than 64 MiB")
    return content


def unlocked(content: bytes, name: str, keyring: Keyring) -> Opened:
    """An encrypted file, opened and proven whole; says what is missing where it cannot be."""
    from stockman.crypto.sops.opening import opened_by

    return opened_by(content, name, lambda wanted: keyring.identities_for(wanted, name))


def unlocked_to_read(content: bytes, name: str, keyring: Keyring) -> Opened:
    """The same for those who change nothing in it: opened once while its bytes stay the same."""
    known = keyring.opened.get(name)
    if known is None or known[0] != content:
        known = keyring.opened[name] = content, unlocked(content, name, keyring)
    return known[1]


def revealed(content: bytes, name: str, keyring: Keyring) -> bytes:
    """The plaintext of an encrypted file."""
    from stockman.crypto.sops.revealing import plaintext

    return plaintext(unlocked(content, name, keyring))


def is_encrypted(content: bytes, name: str) -> bool:
    """Whether a file is encrypted at all; a damaged one is refused, not called plain."""
    from stockman.crypto.sops.forms import Form, form_of
    from stockman.crypto.sops.opening import file_metadata

    try:
        file_metadata(content, name)
    except NotFound:
        return False
    except Refused as error:
        if form_of(name) is Form.BINARY and error.problem.code in _NO_JSON:
            return False
        raise
    return True
