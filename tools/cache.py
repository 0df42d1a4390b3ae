"""The cache of built programs and source copies, outside of the repository.

programs/NAME/VERSION-DIGEST/EXECUTABLE   a built program; appears by one rename
sources/KEY, sources/KEY.ready            source copies; usable if the marker exists
logs/NAME.log                             output of the last build
locks/                                    one file per program and per source copy
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.digest import digest
from tools.own_sources import own_bytes
from tools.recipe import GoCheck, GoProgram, Program

_LAYOUT = 1
"""Increase it when programs are built differently with the same recipes."""


def default_root() -> Path:
    """Return `$STOCKMAN_TOOLS`, or a directory in the user's cache."""
    if chosen := os.environ.get("STOCKMAN_TOOLS"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "stockman", "tools").absolute()


class Cache:
    """The cache directory, shared by all processes of a user."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def executable(self, program: Program) -> Path:
        """Return the path of a program, whether it has been built or not."""
        return self._entry(program) / program.executable

    def log(self, program: Program) -> Path:
        return self.root / "logs" / f"{program.name}.log"

    @contextmanager
    def lock(self, name: str, waiting: Callable[[], None]) -> Iterator[None]:
        """Take an exclusive lock; `waiting` is called once if another process has it."""
        path = self.root / "locks" / f"{name}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def publish(self, program: Program) -> Iterator[Path]:
        """Yield an empty directory that becomes the cache entry if the block succeeds.

        The caller has the lock of the program.
        """
        from shutil import rmtree

        entry = self._entry(program)
        building = entry.with_name(f".building-{entry.name}")
        rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        try:
            yield building
            rmtree(entry, ignore_errors=True)
            building.rename(entry)
        finally:
            rmtree(building, ignore_errors=True)

    def stage(self, key: str, fill: Callable[[Path], None], waiting: Callable[[], None]) -> Path:
        """Return the source copy `key`; fill it unless an earlier run completed it."""
        from shutil import rmtree

        directory = self.root / "sources" / key
        with self.lock(f"source-{key}", waiting):
            if not self._marker(key).exists():
                if directory.exists():
                    rmtree(directory)
                directory.mkdir(parents=True)
                fill(directory)
                self._marker(key).touch()
        return directory

    def invalidate(self, key: str) -> None:
        """Mark a source copy as incomplete; its files are kept until the next build."""
        self._marker(key).unlink(missing_ok=True)

    def _marker(self, key: str) -> Path:
        return self.root / "sources" / f"{key}.ready"

    def _entry(self, program: Program) -> Path:
        unique = digest(_LAYOUT, os.uname().machine, program.recipe, _own_files(program))
        return self.root / "programs" / program.name / f"{program.version}-{unique}"


def _own_files(program: Program) -> bytes:
    recipe = program.recipe
    if isinstance(recipe, GoProgram) and isinstance(recipe.source, GoCheck):
        return own_bytes(recipe.source)
    return b""
