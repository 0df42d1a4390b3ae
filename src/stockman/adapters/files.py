"""Create and replace files atomically; files in memory for plaintext."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from time import time

from stockman.model.pattern import pattern
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import NoAnswer

DRAFT_SUFFIX = ".stockman-new"
"""Suffix of temporary files that are renamed when they are complete."""

_OLD_DRAFT = 3600.0
"""Age in seconds from which a temporary file belongs to no running process."""
_PRIVATE_MODE = 0o600
_OTHERS_BITS = 0o077
_DEFAULT_MODE = 0o666  # reduced by the umask
_NO_HARD_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK)


def path_exists(path: Path) -> bool:
    """Return whether a path exists, including a dangling link."""
    return os.path.lexists(path)


def create_file(path: Path, content: bytes, *, private: bool, tag: str) -> bool:
    """Create a file; returns False if the path exists, which is then not changed.

    A private file is never readable by others. The content is written to a temporary file, whose
    name contains `tag` to distinguish processes, and then linked, so it appears atomically.
    """
    if path_exists(path):
        return False
    draft = path.with_name(f".{path.name}.{tag}{DRAFT_SUFFIX}")
    _remove_old_drafts(path)
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


def _remove_old_drafts(path: Path) -> None:
    """Remove temporary files that killed processes left for a path; they may contain keys."""
    name = path.name.removesuffix(DRAFT_SUFFIX)
    if name != path.name:
        name = name.removeprefix(".").removesuffix(".whole").rpartition(".")[0]
    for draft in path.parent.glob(f".{escape(name)}.*{DRAFT_SUFFIX}"):
        with suppress(OSError):
            if time() - draft.lstat().st_mtime > _OLD_DRAFT:
                draft.unlink()


def append_bytes(path: Path, content: bytes) -> None:
    """Append to an existing file; links are not followed."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW), "ab") as file:
        file.write(content)


def remove_drafts(directory: Path) -> None:
    """Remove temporary files of an interrupted process."""
    for draft in directory.glob(f".*{DRAFT_SUFFIX}"):
        draft.unlink(missing_ok=True)


def _create_in_place(path: Path, content: bytes, *, private: bool) -> bool:
    """Create a file on a file system without hard links; not atomic if the process is killed."""
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
    """Replace a file atomically and keep its mode; for a link, replace its target."""
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


def replace_private_file(path: Path, content: bytes, *, tag: str) -> None:
    """Create or replace a file with mode 0600 atomically; for a link, replace its target.

    `tag` distinguishes processes.
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
    """Remove the permissions of group and others; returns False if they had none."""
    if not path.stat().st_mode & _OTHERS_BITS:
        return False
    path.chmod(_PRIVATE_MODE)
    return True


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
    path.chmod(_PRIVATE_MODE)


_MOUNTS = Path("/proc/self/mountinfo")
_IN_MEMORY = ("tmpfs", "ramfs")
_PREFIX = "stockman-edit"
_OURS = pattern(rf"{_PREFIX}-([0-9]+)-[0-9a-f]+")


def ram_directories(runtime: str = "") -> tuple[Path, ...]:
    """Return the usual directories in memory; `runtime` is the runtime directory of the user."""
    return tuple(Path(directory) for directory in ("/dev/shm", runtime) if directory)


@contextmanager
def ram_file(directories: Iterable[Path], name: str, tag: str) -> Iterator[Path]:
    """Create an empty private file in a new directory; raises `NoAnswer` without a file system."""
    directory = _find_ram_directory(tuple(directories))
    _remove_stale_files(directory)
    home = directory / f"{_PREFIX}-{os.getpid()}-{tag}"
    try:
        home.mkdir(mode=0o700)
    except OSError as error:
        raise NoAnswer(f"{directory}: {error.strerror or type(error).__name__}") from None
    try:
        path = home / name
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        yield path
    finally:
        _remove_directory(home)


def _find_ram_directory(directories: tuple[Path, ...]) -> Path:
    kinds = _file_systems_by_device()
    for directory in directories:
        try:
            device = directory.stat().st_dev
        except OSError:
            continue
        if kinds.get(device) in _IN_MEMORY and os.access(directory, os.W_OK | os.X_OK):
            return directory
    tried = " and ".join(str(directory) for directory in directories)
    raise NoAnswer(f"no writable file system in memory found; tried: {tried}")


def _file_systems_by_device() -> dict[int, str]:
    """Return the types of mounted file systems by device number."""
    try:
        lines = _MOUNTS.read_text().splitlines()
    except OSError:
        return {}
    kinds: dict[int, str] = {}
    for line in lines:
        before, _, behind = line.partition(" - ")
        major, _, minor = before.split(" ")[2].partition(":")
        kinds[os.makedev(int(major), int(minor))] = behind.split(" ")[0]
    return kinds


def _remove_stale_files(directory: Path) -> None:
    """Remove directories of killed processes."""
    for entry in directory.glob(f"{_PREFIX}-*"):
        match = _OURS.fullmatch(entry.name)
        try:
            ours = entry.lstat().st_uid == os.geteuid() and not entry.is_symlink()
        except OSError:
            continue
        if match is not None and ours and not Path(f"/proc/{match[1]}").exists():
            _remove_directory(entry)


def _remove_directory(directory: Path) -> None:
    import shutil  # imports compression modules, which most commands do not need

    shutil.rmtree(directory, ignore_errors=True)
