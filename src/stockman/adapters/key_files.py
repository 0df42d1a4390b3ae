"""Files with private keys: their content, and who else may read them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from stockman.model.record import record
from stockman.model.secret import Secret

_OTHERS_BITS = 0o077
_OWNER_MODE = 0o600
_MAX_BYTES = 1 << 20


@record
class KeyFile:
    """A key file as it is on disk."""

    text: Secret
    mode: int
    """Permission bits."""
    is_ours: bool
    """Whether the user of this process owns it, and so may change its mode."""

    @property
    def is_exposed(self) -> bool:
        """Whether others on this machine may read or change it."""
        return bool(self.mode & _OTHERS_BITS)


def read_key_file(path: Path) -> KeyFile:
    """A key file; raises OSError where it is missing, no file, too large or not readable."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(0, "it is not a file", str(path))
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(0, "it is larger than any key file", str(path))
    return KeyFile(
        text=Secret(content.decode("utf-8", "replace")),
        mode=stat.S_IMODE(facts.st_mode),
        is_ours=facts.st_uid == os.geteuid(),
    )


def make_private(path: Path) -> None:
    """Take the rights of everybody but the owner; a link's target is what is changed."""
    path.chmod(_OWNER_MODE)
