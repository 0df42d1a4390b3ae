"""Files that are made once: whole or not at all, and never in the place of another."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

DRAFT_SUFFIX = ".stockman-new"
"""How the names of drafts end, until they are whole and get their own name."""

_PRIVATE = 0o600
_USUAL = 0o666  # less what the process masks
_NO_HARD_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK)


def exists(path: Path) -> bool:
    """Whether anything stands there, a link that leads nowhere included."""
    return os.path.lexists(path)


def create_file(path: Path, content: bytes, *, private: bool, tag: str) -> bool:
    """Make a file; False where something stands there already, which is left alone.

    A private file is never readable by others, not for a moment. Nobody sees a half-written file:
    it is drafted under a name with `tag`, which tells two processes apart, and then linked.
    """
    if exists(path):
        return False
    draft = path.with_name(f".{path.name}.{tag}{DRAFT_SUFFIX}")
    _write(draft, content, private=private)
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        return _create_in_place(path, content, private=private)
    finally:
        draft.unlink(missing_ok=True)
    return True


def append(path: Path, content: bytes) -> None:
    """Add to the end of an existing file; a link is not followed, what is there stays."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW), "ab") as file:
        file.write(content)


def remove_drafts(directory: Path) -> None:
    """Remove drafts that an interrupted process left."""
    for draft in directory.glob(f".*{DRAFT_SUFFIX}"):
        draft.unlink(missing_ok=True)


def _create_in_place(path: Path, content: bytes, *, private: bool) -> bool:
    """For file systems that know no links: whole unless the process is killed meanwhile."""
    try:
        _write(path, content, private=private)
    except FileExistsError:
        return False
    return True


def _write(path: Path, content: bytes, *, private: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(path, flags, _PRIVATE if private else _USUAL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if private:
                os.fchmod(file.fileno(), _PRIVATE)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
