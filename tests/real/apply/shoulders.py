"""Command lines of a process and of everybody below it, as `/proc` shows them to all users."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

_MOMENT = 0.01


def words_of_family(process: subprocess.Popen[bytes]) -> frozenset[str]:
    """Words that were seen until the process ended."""
    seen: set[str] = set()
    while process.poll() is None:
        for pid in _family(process.pid):
            seen.update(_words(pid))
        time.sleep(_MOMENT)  # noqa: TID251  # a real process is watched in real time
    return frozenset(seen)


def _family(pid: int) -> list[int]:
    family = [pid]
    for one in family:
        for task in _tasks(one):
            family += [int(child) for child in _read(task / "children").split()]
    return family


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _words(pid: int) -> list[str]:
    return [one for one in _read(Path(f"/proc/{pid}/cmdline")).split("\0") if one]


def _read(file: Path) -> str:
    """What a file says; nothing once its process is gone."""
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
