"""Private temporary files in memory only: on a tmpfs or ramfs, deleted after use."""

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
        shutil.rmtree(home, ignore_errors=True)


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
            shutil.rmtree(entry, ignore_errors=True)
