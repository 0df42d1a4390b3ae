"""Files that are in memory only: on a tmpfs or ramfs, readable by nobody else, gone afterwards."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stockman.ports.environment import NoAnswer

_MOUNTS = Path("/proc/self/mountinfo")
_IN_MEMORY = ("tmpfs", "ramfs")
_PREFIX = "stockman-edit"
_OURS = re.compile(rf"{_PREFIX}-([0-9]+)-[0-9a-f]+")


def ram_directories(runtime: str = "") -> tuple[Path, ...]:
    """Where memory-backed directories usually are; `runtime` is the user's own."""
    return tuple(Path(place) for place in ("/dev/shm", runtime) if place)


@contextmanager
def ram_file(places: Iterable[Path], name: str, tag: str) -> Iterator[Path]:
    """An empty private file of this name in a directory of its own; `NoAnswer`: no such place."""
    place = _find_ram_directory(tuple(places))
    _remove_stale_files(place)
    home = place / f"{_PREFIX}-{os.getpid()}-{tag}"
    try:
        home.mkdir(mode=0o700)
    except OSError as error:
        raise NoAnswer(f"{place}: {error.strerror or type(error).__name__}") from None
    try:
        path = home / name
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        yield path
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _find_ram_directory(places: tuple[Path, ...]) -> Path:
    kinds = _file_systems_by_device()
    for place in places:
        try:
            device = place.stat().st_dev
        except OSError:
            continue
        if kinds.get(device) in _IN_MEMORY and os.access(place, os.W_OK | os.X_OK):
            return place
    tried = " and ".join(str(place) for place in places)
    raise NoAnswer(f"no file system in memory that you may write to was found; tried: {tried}")


def _file_systems_by_device() -> dict[int, str]:
    """The kind of every mounted file system, by the device that `stat` shows."""
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


def _remove_stale_files(place: Path) -> None:
    """Remove what a process of ours left that was killed."""
    for entry in place.glob(f"{_PREFIX}-*"):
        match = _OURS.fullmatch(entry.name)
        try:
            ours = entry.lstat().st_uid == os.geteuid() and not entry.is_symlink()
        except OSError:
            continue
        if match is not None and ours and not Path(f"/proc/{match[1]}").exists():
            shutil.rmtree(entry, ignore_errors=True)
