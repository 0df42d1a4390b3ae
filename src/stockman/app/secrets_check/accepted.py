"""Old keys in history that were made anew: history cannot be changed, and findings can be accepted.

Only what is not known to be in use, and no longer in any file, can be.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from stockman.app.secrets_check.leaks import Leak

FILE = ".stockman/accepted-leaks.txt"
_DIGITS = 12
_LARGEST = 1 << 20


def leak_id(leak: Leak) -> str | None:
    """What names a finding for ever, without a trace of its value; None: it cannot be accepted."""
    if leak.known or leak.in_tree or leak.commit is None:
        return None
    text = "\0".join((leak.name, leak.path, leak.commit))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def accepted_ids(directory: Path) -> frozenset[str]:
    """The first words of the file's lines; a line without a reason behind it does not count."""
    try:
        with (directory / FILE).open("rb") as file:
            lines = file.read(_LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return frozenset()
    words = [line.split(maxsplit=1) for line in lines if not line.startswith("#")]
    return frozenset(parts[0] for parts in words if len(parts) > 1)
