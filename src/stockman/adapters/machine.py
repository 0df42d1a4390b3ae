"""This machine: its files, disks, environment and interpreter."""

from __future__ import annotations

import os
import platform
import stat
import sys
import tempfile
from pathlib import Path

from stockman.ports.probe import FileFacts, Room

_LARGEST_READ = 1 << 20


class LocalMachine:
    """`ports.Machine` of the running process."""

    def file(self, path: Path) -> FileFacts | None:
        try:
            found = path.stat()
        except (OSError, ValueError):
            return None
        return FileFacts(
            mode=stat.S_IMODE(found.st_mode),
            is_file=stat.S_ISREG(found.st_mode),
            readable=os.access(path, os.R_OK),
        )

    def read(self, path: Path) -> bytes | None:
        facts = self.file(path)
        if facts is None or not facts.is_file:
            return None
        try:
            with path.open("rb") as file:
                return file.read(_LARGEST_READ)
        except OSError:
            return None

    def room(self, directory: Path) -> Room | None:
        try:
            system = os.statvfs(directory)
        except OSError:
            return None
        return Room(
            free=system.f_bavail * system.f_frsize,
            writable=os.access(directory, os.W_OK | os.X_OK),
        )

    def temporary(self) -> Path:
        # `tempfile.gettempdir` finds its answer by writing files, and this class only looks.
        named = (os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP"))
        return Path(tempfile.tempdir or next(filter(None, named), "/tmp"))

    def variable(self, name: str) -> str:
        return os.environ.get(name, "")

    def python(self) -> str:
        return platform.python_version()

    def encoding(self) -> str:
        return (getattr(sys.stdout, "encoding", None) or sys.getfilesystemencoding()).lower()
