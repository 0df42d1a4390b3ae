"""Check that key files are private and ignored by git."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from stockman.adapters import files
from stockman.adapters.key_files import make_private
from stockman.app.doctor.secrets import SECRET_FILES
from stockman.app.init.gitignore import GITIGNORE, missing_lines
from stockman.model.problem import Problem

_OTHERS = 0o077
_NAMES = frozenset(name.rpartition("/")[2] for name in SECRET_FILES)


def key_files(names: Iterable[str]) -> list[str]:
    """Return the names that are key files, sorted."""
    return sorted(name for name in names if name.rpartition("/")[2] in _NAMES)


def add_to_gitignore(directory: Path, names: Iterable[str]) -> None:
    """Add missing lines and these files to `.gitignore`; leave a link alone."""
    path = directory / GITIGNORE
    existing = path.read_bytes() if path.exists() else b""
    added = missing_lines(existing)
    present = {line.strip().strip(b"/") for line in (existing + added).splitlines()}
    added += b"".join(b"/%b\n" % name.encode() for name in names if name.encode() not in present)
    if not path.exists():
        path.touch()
    files.append_bytes(path, added)


def wrong_modes(directory: Path) -> Iterator[tuple[str, int]]:
    """Return key files that other users can read, with their modes."""
    for name in SECRET_FILES:
        try:
            facts = (directory / name).stat()
        except OSError:
            continue
        mode = stat.S_IMODE(facts.st_mode)
        if stat.S_ISREG(facts.st_mode) and mode & _OTHERS:
            yield name, mode


def restrict_mode(path: Path) -> bool:
    """Set the mode of our own file to 0600. Return False if somebody else owns it."""
    try:
        if path.stat().st_uid == os.geteuid():
            make_private(path)
            return True
    except OSError:
        return False
    return False


def git_tracks_key(name: str) -> Problem:
    return Problem(
        code="leak.key-file",
        what=f"git keeps {name}, which holds a key",
        where=name,
        why="every clone of the repository has it, and history keeps it after it is removed",
        fix=f"run `git rm --cached {shlex.quote(name)}`, ignore it, and make the key anew",
    )


def missing_from_gitignore(name: str) -> Problem:
    return Problem(
        code="leak.key-file",
        what=f"git does not ignore {name}, which holds a key",
        where=name,
        why="the next `git add .` takes it along, and every clone gets it",
        fix="run `stockman secrets check --fix`, which adds it to .gitignore",
    )


def open_to_others(name: str, mode: int) -> Problem:
    return Problem(
        code="leak.key-mode",
        what=f"others on this machine can open {name}",
        where=name,
        why=f"its mode is {mode:04o}",
        fix="run `stockman secrets check --fix`, which sets it to 0600",
    )
