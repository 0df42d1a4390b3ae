"""Files that are made once: whole or not at all, and never in the place of another."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

DRAFT_SUFFIX = ".stockman-new"
"""How the names of drafts end, until they are whole and get their own name."""

_PRIVATE_MODE = 0o600
_DEFAULT_MODE = 0o666  # less what the process masks
_NO_HARD_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK)


def path_exists(path: Path) -> bool:
    """Whether anything stands there, a link that leads nowhere included."""
    return os.path.lexists(path)


def create_file(path: Path, content: bytes, *, private: bool, tag: str) -> bool:
    """Make a file; False where something stands there already, which is left alone.

    A private file is never readable by others, not for a moment. Nobody sees a half-written file:
    it is drafted under a name with `tag`, which tells two processes apart, and then linked.
    """
    if path_exists(path):
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


def append_bytes(path: Path, content: bytes) -> None:
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
    descriptor = os.open(path, flags, _PRIVATE_MODE if private else _DEFAULT_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if private:
                os.fchmod(file.fileno(), _PRIVATE_MODE)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def replace_file(path: Path, content: bytes, *, tag: str) -> None:
    """Write a file in the place of the one that is there, which keeps its rights.

    A link stays a link: what it leads to is replaced. Nobody sees a half-written file.
    """
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{tag}.whole{DRAFT_SUFFIX}")
    if not create_file(draft, content, private=False, tag=tag):
        raise FileExistsError(draft)
    try:
        with suppress(FileNotFoundError):
            draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


_OWNER_MODE = 0o600
_OTHERS_BITS = 0o077


def replace_private_file(path: Path, content: bytes, *, tag: str) -> None:
    """Write a file with mode 0600, in the place of one that may be there.

    A link stays a link: what it leads to is replaced. `tag` tells two processes apart.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{tag}.whole{DRAFT_SUFFIX}")
    if not create_file(draft, content, private=True, tag=tag):
        raise FileExistsError(draft)
    try:
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def restrict_to_owner(path: Path) -> bool:
    """Take the rights of others away; False: they had none."""
    if not path.stat().st_mode & _OTHERS_BITS:
        return False
    path.chmod(_OWNER_MODE)
    return True
