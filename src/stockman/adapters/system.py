"""Clock, random numbers, files and environment of the operating system."""

from __future__ import annotations

import os
import platform
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path

from stockman.ports.environment import DirectorySpace, FileStatus


class SystemClock:
    """The system clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SystemTimekeeper(SystemClock):
    """The system clock, and sleeping in the running event loop."""

    async def sleep(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)


class SystemEntropy:
    """The random number generator of the system."""

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)


_LARGEST_READ = 1 << 20


class LocalMachine:
    """`Machine` of the running process."""

    def file(self, path: Path) -> FileStatus | None:
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        return FileStatus(
            mode=stat.S_IMODE(status.st_mode),
            is_file=stat.S_ISREG(status.st_mode),
            readable=os.access(path, os.R_OK),
        )

    def read(self, path: Path) -> bytes | None:
        status = self.file(path)
        if status is None or not status.is_file:
            return None
        try:
            with path.open("rb") as file:
                return file.read(_LARGEST_READ)
        except OSError:
            return None

    def space(self, directory: Path) -> DirectorySpace | None:
        try:
            system = os.statvfs(directory)
        except OSError:
            return None
        return DirectorySpace(
            free=system.f_bavail * system.f_frsize,
            writable=os.access(directory, os.W_OK | os.X_OK),
        )

    def temporary(self) -> Path:
        import tempfile  # imports compression modules, which most commands do not need

        # `tempfile.gettempdir` writes files to find its answer; this class must not write.
        directories = (os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP"))
        return Path(tempfile.tempdir or next(filter(None, directories), "/tmp"))

    def variable(self, name: str) -> str:
        return os.environ.get(name, "")

    def python(self) -> str:
        return platform.python_version()

    def encoding(self) -> str:
        return (getattr(sys.stdout, "encoding", None) or sys.getfilesystemencoding()).lower()
