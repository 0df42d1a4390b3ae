"""Files with private keys and their permissions."""

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
    """The content and the permissions of a key file."""

    text: Secret
    mode: int
    """Permission bits."""
    is_ours: bool
    """Whether the user of this process owns it and may change its mode."""

    @property
    def is_exposed(self) -> bool:
        """Whether other users may read or change it."""
        return bool(self.mode & _OTHERS_BITS)


def read_key_file(path: Path) -> KeyFile:
    """Read a key file; raises OSError if it is missing, not a file, too large or not readable."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a file", str(path))
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(0, "it is too large for a key file", str(path))
    return KeyFile(
        text=Secret(content.decode("utf-8", "replace")),
        mode=stat.S_IMODE(status.st_mode),
        is_ours=status.st_uid == os.geteuid(),
    )


def make_private(path: Path) -> None:
    """Set the mode of a file, or of the target of a link, to 0600."""
    path.chmod(_OWNER_MODE)
