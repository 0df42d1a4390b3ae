"""Many files at once: all drafted before the first is put in place, links never followed out.

Paths are texts here: hundreds of `Path` objects take longer than the files they name.
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

_DEFAULT_MODE = 0o666  # less what the process masks
_MAX_BYTES = 64 << 20
_NO_MODES: Mapping[str, int] = MappingProxyType({})


class PathOutsideTree(Exception):
    """A path that leads out of its directory, or through something that is no directory."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path)
        self.path = path
        self.why = why


class PartialWrite(OSError):
    """Some files are in place and others are not: the system refused in the middle."""


def read_files(root: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """The files that exist, by path; refuses links that leave the directory."""
    found = {}
    tree = _Tree(root)
    for path in paths:
        if tree.mode(path) is None:
            continue
        try:
            with _name_path_in_errors(path), open(tree.place(path), "rb") as file:
                found[path] = file.read(_MAX_BYTES)
        except FileNotFoundError:
            continue
        except IsADirectoryError:
            raise PathOutsideTree(path, "a directory stands there") from None
    return found


def write_files(
    root: Path,
    written: Mapping[str, bytes],
    removed: Iterable[str],
    tag: str,
    rights: Mapping[str, int] = _NO_MODES,
) -> None:
    """Write and remove files; nothing is touched before everything that is new is written.

    A full disk or a missing right shows while files are drafted, and leaves the old ones alone.
    What replaces a file is on disk before that goes; where nothing stood, nothing can be lost.
    Files are put in place in the order given. What goes wrong after that raises Halfway. New files
    have the `rights` that are given for them, and replaced ones keep theirs.
    """
    drafts: dict[str, str] = {}
    replacing: list[str] = []
    tree = _Tree(root)
    begun = False
    try:
        for path, content in written.items():
            with _name_path_in_errors(path):
                mode = tree.mode(path)
                tree.make_parents(path)
                folder, slash, name = path.rpartition("/")
                draft = tree.place(f"{folder}{slash}.{name}.{tag}{DRAFT_SUFFIX}")
                drafts[draft] = tree.place(path)
                _write_draft(draft, content, mode, rights.get(path, _DEFAULT_MODE))
            if mode is not None:
                replacing.append(draft)
        gone = [tree.removable(path) for path in removed]
        for draft in replacing:
            _sync_draft(draft)
        begun = True
        for draft, place in drafts.items():
            os.replace(draft, place)
        for place in gone:
            with suppress(FileNotFoundError):
                os.unlink(place)
            _remove_empty(Path(place).parent, Path(tree.base))
    except BaseException as error:
        for draft in drafts:
            with suppress(OSError):
                os.unlink(draft)
        for directory in reversed(tree.made):
            with suppress(OSError):
                os.rmdir(directory)
        if begun and isinstance(error, OSError):
            raise PartialWrite(error.errno, error.strerror, error.filename) from None
        raise


def move_file(root: Path, old: str, new: str) -> None:
    """Give a file another name, in the place of what stands there: needs no room on the disk."""
    tree = _Tree(root)
    for path in (old, new):
        tree.mode(path)
    os.replace(tree.place(old), tree.place(new))


@contextmanager
def _name_path_in_errors(path: str) -> Iterator[None]:
    """Errors of the system name the file that the user knows, and not its draft."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


class _Tree:
    """A directory, and what is known of the directories below it: each is looked at once."""

    def __init__(self, root: Path) -> None:
        self.base = str(root.resolve())
        self.made: list[str] = []
        self._there: dict[str, bool] = {"": True}

    def place(self, path: str) -> str:
        return f"{self.base}/{path}"

    def mode(self, path: str) -> int | None:
        """The mode of what stands at a path; None: nothing.

        Refuses to leave the directory, also through a link.
        """
        parts = path.split("/")
        if "\0" in path:
            raise PathOutsideTree(path, "it is no name of a file")
        if path.startswith("/") or ".." in parts:
            raise PathOutsideTree(path, "it leaves the directory")
        if not self._is_there(path, path.rpartition("/")[0]):
            return None
        found = self._found(path)
        if found is not None and stat.S_ISLNK(found):
            raise PathOutsideTree(path, f"{path} is a link")
        return found

    def make_parents(self, path: str) -> None:
        """Make the directories around a file that `mode` was asked of."""
        folder = path.rpartition("/")[0]
        if self._there[folder]:
            return
        self.make_parents(folder)
        os.mkdir(self.place(folder))
        self.made.append(self.place(folder))
        self._there[folder] = True

    def removable(self, path: str) -> str:
        """Where a file to be removed is; refused by whoever may not write beside it."""
        place = self.place(path)
        if self.mode(path) is not None and not os.access(os.path.dirname(place), os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return place

    def _is_there(self, path: str, folder: str) -> bool:
        known = self._there.get(folder)
        if known is None:
            known = self._is_there(path, folder.rpartition("/")[0])
            found = self._found(folder) if known else None
            if found is not None and stat.S_ISLNK(found):
                raise PathOutsideTree(path, f"{folder} is a link")
            if found is not None and not stat.S_ISDIR(found):
                raise PathOutsideTree(path, "a file stands where a directory should be")
            known = self._there[folder] = found is not None
        return known

    def _found(self, path: str) -> int | None:
        try:
            return os.lstat(self.place(path)).st_mode
        except FileNotFoundError:
            return None


def _write_draft(draft: str, content: bytes, mode: int | None, rights: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    descriptor = os.open(draft, flags, rights)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)
    if mode is not None:
        os.chmod(draft, stat.S_IMODE(mode))


def _sync_draft(draft: str) -> None:
    """Wait until a file is on disk. Done after all were written: the first waits for the others."""
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
