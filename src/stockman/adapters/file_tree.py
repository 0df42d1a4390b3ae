"""Read and write many files: all are written to temporary files before the first is renamed.

Paths are texts: creating hundreds of `Path` objects takes longer than reading the files.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from stockman.adapters.files import DRAFT_SUFFIX

_DEFAULT_MODE = 0o666  # reduced by the umask
_MAX_BYTES = 64 << 20
_NO_MODES: Mapping[str, int] = MappingProxyType({})


class PathOutsideTree(Exception):
    """A path leaves its directory, or passes through something that is not a directory."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path)
        self.path = path
        self.why = why


class PartialWrite(OSError):
    """Only some files were replaced because of an error of the operating system."""


def read_files(root: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """Read the existing files by path; refuses links."""
    contents = {}
    tree = _Tree(root)
    for path in paths:
        if tree.mode(path) is None:
            continue
        try:
            with _name_path_in_errors(path), open(tree.absolute(path), "rb") as file:
                contents[path] = file.read(_MAX_BYTES)
        except FileNotFoundError:
            continue
        except IsADirectoryError:
            raise PathOutsideTree(path, "it is a directory") from None
    return contents


def write_files(
    root: Path,
    written: Mapping[str, bytes],
    removed: Iterable[str],
    tag: str,
    rights: Mapping[str, int] = _NO_MODES,
) -> None:
    """Write and remove files; existing files are changed only after all temporary files exist.

    A full disk or a missing permission therefore leaves the old files unchanged. The temporary
    file that replaces an existing file is synced first. Files are renamed in order; an error
    after the first raises `PartialWrite`. New files get their mode from `rights`; replaced ones
    keep theirs.
    """
    drafts: dict[str, str] = {}
    replacing: list[str] = []
    tree = _Tree(root)
    is_replacing = False
    try:
        for path, content in written.items():
            with _name_path_in_errors(path):
                mode = tree.mode(path)
                tree.make_parents(path)
                folder, slash, name = path.rpartition("/")
                draft = tree.absolute(f"{folder}{slash}.{name}.{tag}{DRAFT_SUFFIX}")
                drafts[draft] = tree.absolute(path)
                _write_draft(draft, content, mode, rights.get(path, _DEFAULT_MODE))
            if mode is not None:
                replacing.append(draft)
        removals = [tree.removable(path) for path in removed]
        for draft in replacing:
            _sync_draft(draft)
        is_replacing = True
        for draft, target in drafts.items():
            os.replace(draft, target)
        for target in removals:
            with suppress(FileNotFoundError):
                os.unlink(target)
            _remove_empty(Path(target).parent, Path(tree.base))
    except BaseException as error:
        for draft in drafts:
            with suppress(OSError):
                os.unlink(draft)
        for directory in reversed(tree.created):
            with suppress(OSError):
                os.rmdir(directory)
        if is_replacing and isinstance(error, OSError):
            raise PartialWrite(error.errno, error.strerror, error.filename) from None
        raise


def move_file(root: Path, old: str, new: str) -> None:
    """Rename a file and replace the target; needs no disk space."""
    tree = _Tree(root)
    for path in (old, new):
        tree.mode(path)
    os.replace(tree.absolute(old), tree.absolute(new))


@contextmanager
def _name_path_in_errors(path: str) -> Iterator[None]:
    """Set the path in errors to that of the file instead of the temporary file."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


class _Tree:
    """A directory, with a cache of the directories below it."""

    def __init__(self, root: Path) -> None:
        self.base = str(root.resolve())
        self.created: list[str] = []
        self._known_directories: dict[str, bool] = {"": True}

    def absolute(self, path: str) -> str:
        return f"{self.base}/{path}"

    def mode(self, path: str) -> int | None:
        """Return the mode of a path; None if it does not exist.

        Refuses paths that leave the directory, also through a link.
        """
        parts = path.split("/")
        if "\0" in path:
            raise PathOutsideTree(path, "it is not a valid file name")
        if path.startswith("/") or ".." in parts:
            raise PathOutsideTree(path, "it leaves the directory")
        if not self._exists(path, path.rpartition("/")[0]):
            return None
        mode = self._link_mode(path)
        if mode is not None and stat.S_ISLNK(mode):
            raise PathOutsideTree(path, f"{path} is a link")
        return mode

    def make_parents(self, path: str) -> None:
        """Create the parent directories of a file whose `mode` was read."""
        folder = path.rpartition("/")[0]
        if self._known_directories[folder]:
            return
        self.make_parents(folder)
        os.mkdir(self.absolute(folder))
        self.created.append(self.absolute(folder))
        self._known_directories[folder] = True

    def removable(self, path: str) -> str:
        """Return the absolute path of a file to remove; raises PermissionError."""
        absolute = self.absolute(path)
        if self.mode(path) is not None and not os.access(
            os.path.dirname(absolute), os.W_OK | os.X_OK
        ):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return absolute

    def _exists(self, path: str, folder: str) -> bool:
        exists = self._known_directories.get(folder)
        if exists is None:
            exists = self._exists(path, folder.rpartition("/")[0])
            mode = self._link_mode(folder) if exists else None
            if mode is not None and stat.S_ISLNK(mode):
                raise PathOutsideTree(path, f"{folder} is a link")
            if mode is not None and not stat.S_ISDIR(mode):
                raise PathOutsideTree(path, "a parent is a file instead of a directory")
            exists = self._known_directories[folder] = mode is not None
        return exists

    def _link_mode(self, path: str) -> int | None:
        try:
            return os.lstat(self.absolute(path)).st_mode
        except FileNotFoundError:
            return None


def _write_draft(draft: str, content: bytes, mode: int | None, rights: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    descriptor = os.open(draft, flags, rights)
    try:
        remaining = memoryview(content)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]
    finally:
        os.close(descriptor)
    if mode is not None:
        os.chmod(draft, stat.S_IMODE(mode))


def _sync_draft(draft: str) -> None:
    """Sync a file to disk."""
    descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_empty(directory: Path, base: Path) -> None:
    while directory != base:
        try:
            directory.rmdir()
        except OSError:
            return
        directory = directory.parent
