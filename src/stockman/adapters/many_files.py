"""Many files at once: all drafted before the first is put in place, links never followed out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from stockman.adapters.new_files import DRAFT_SUFFIX

_USUAL = 0o666  # less what the process masks
_LONGEST = 64 << 20


class OutOfTree(Exception):
    """A path that leads out of its directory, or through something that is no directory."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path)
        self.path = path
        self.why = why


def read_files(root: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """The files that exist, by path; refuses links that leave the directory."""
    found = {}
    for path in paths:
        place = _inside(root, path)
        try:
            with place.open("rb") as file:
                found[path] = file.read(_LONGEST)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            raise OutOfTree(path, "a file stands where a directory should be") from None
        except IsADirectoryError:
            raise OutOfTree(path, "a directory stands there") from None
    return found


def write_files(root: Path, written: Mapping[str, bytes], removed: Iterable[str], tag: str) -> None:
    """Write and remove files; nothing is touched before everything that is new is on disk.

    A full disk or a missing right shows while files are drafted, and leaves the old ones alone.
    """
    drafts: dict[Path, Path] = {}
    made: list[Path] = []
    try:
        for path, content in written.items():
            place = _inside(root, path)
            made += _directories(place.parent)
            draft = place.with_name(f".{place.name}.{tag}{DRAFT_SUFFIX}")
            drafts[draft] = place
            _draft(draft, content, place)
    except BaseException:
        for draft in drafts:
            draft.unlink(missing_ok=True)
        for directory in reversed(made):
            with suppress(OSError):
                directory.rmdir()
        raise
    for draft, place in drafts.items():
        draft.replace(place)
    for path in removed:
        place = _inside(root, path)
        place.unlink(missing_ok=True)
        _remove_empty(place.parent, root)


def _inside(root: Path, path: str) -> Path:
    base = root.resolve()
    place = base / path
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise OutOfTree(path, "it leaves the directory")
    for parent in (place, *place.parents):
        if parent == base:
            return place
        if parent.is_symlink():
            raise OutOfTree(path, f"{parent.relative_to(base)} is a link")
    raise OutOfTree(path, "it leaves the directory")


def _directories(directory: Path) -> list[Path]:
    missing = []
    while not directory.is_dir():
        missing.append(directory)
        directory = directory.parent
    made = []
    for one in reversed(missing):
        one.mkdir()
        made.append(one)
    return made


def _draft(draft: Path, content: bytes, place: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(draft, flags, _USUAL), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        draft.chmod(place.stat().st_mode & 0o7777)


def _remove_empty(directory: Path, root: Path) -> None:
    base = root.resolve()
    while directory != base:
        try:
            directory.rmdir()
        except OSError:
            return
        directory = directory.parent
