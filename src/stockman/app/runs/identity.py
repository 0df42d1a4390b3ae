"""The identity of a directory: derived from the secrets bundle, or kept in a committed file."""

from __future__ import annotations

from pathlib import Path

from stockman.adapters import files
from stockman.crypto.identity import FINGERPRINT_BYTES, is_fingerprint
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problem
from stockman.ports.system import Entropy

IDENTITY_FILE = ".stockman/identity.yaml"
_KEY = "fingerprint: "
_COMMENT = """\
# Fingerprint in the marks of these guests in Proxmox VE. Commit this file with the others. A copy
# of this directory for other guests needs a fingerprint of its own: remove the file there.
"""
_FORM = "it must contain `fingerprint:` with 16 hexadecimal digits"
_TAG_BYTES = 4


def read_guest_fingerprint(directory: Path) -> str:
    """Return the fingerprint of guests without a cluster. Empty: it was not generated yet."""
    try:
        lines = (directory / IDENTITY_FILE).read_text("utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise Refused(invalid_identity(error.strerror or type(error).__name__)) from None
    except UnicodeDecodeError:
        raise Refused(invalid_identity("it is not UTF-8 text")) from None
    entries = [line for line in lines if line.strip() and not line.startswith("#")]
    fingerprint = entries[0].removeprefix(_KEY).strip().strip("\"'") if entries else ""
    if len(entries) != 1 or not entries[0].startswith(_KEY) or not is_fingerprint(fingerprint):
        raise Refused(invalid_identity(_FORM))
    return fingerprint


def create_guest_fingerprint(directory: Path, entropy: Entropy) -> str:
    """Return the fingerprint of guests without a cluster; it is generated once."""
    fingerprint = entropy.random_bytes(FINGERPRINT_BYTES).hex()
    path = directory / IDENTITY_FILE
    content = f'{_COMMENT}{_KEY}"{fingerprint}"\n'.encode()
    try:
        path.parent.mkdir(exist_ok=True)
        tag = entropy.random_bytes(_TAG_BYTES).hex()
        files.create_file(path, content, private=False, tag=tag)
    except OSError as error:
        raise StockmanError(unwritable_identity(error.strerror or type(error).__name__)) from None
    return read_guest_fingerprint(directory)


def invalid_identity(why: str) -> Problem:
    return Problem(
        code="identity.invalid",
        what=f"{IDENTITY_FILE} cannot be used",
        where=IDENTITY_FILE,
        why=why,
        fix="restore the file from Git; the line `stockman: ...` in the notes of a guest in Proxmox"
        " VE has the fingerprint too, after `id=`",
    )


def unwritable_identity(why: str) -> Problem:
    return Problem(
        code="identity.unwritable",
        what=f"{IDENTITY_FILE} cannot be written",
        where=IDENTITY_FILE,
        why=why,
        fix="make the directory writable, or commit the file from where it exists",
    )
