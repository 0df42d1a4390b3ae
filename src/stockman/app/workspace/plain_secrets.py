"""Finds plain Kubernetes Secrets in all files of a directory that git may store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from stockman.app.workspace.secret_names import is_secret_name
from stockman.model.problem import Problem

_SUFFIXES = (".yaml", ".yml", ".json")
_SKIPPED = frozenset({".git", ".stockman", ".venv", "node_modules"})
_MAX_BYTES = 4 << 20
_MAYBE = re.compile(rb"""\bkind["']?\s*:\s*["']?(Secret|List)""")


def plain_secrets(directory: Path) -> Iterator[Problem]:
    """Return a problem for each plain Secret in a file that git does not ignore."""
    for path in _files(directory):
        try:
            if path.stat().st_size > _MAX_BYTES or not path.is_file():
                continue
            content = path.read_bytes()
        except OSError:
            continue
        if _MAYBE.search(content):
            yield from _problems(directory, path, content.decode(errors="replace"))


def _problems(directory: Path, path: Path, text: str) -> Iterator[Problem]:
    from stockman.adapters.git.probe import LocalGitProbe
    from stockman.rendering.checks.plain_secrets import find_plain_secrets

    name = path.relative_to(directory).as_posix()
    problems = tuple(find_plain_secrets(name, text))
    if problems and LocalGitProbe(directory).exposure(name) != "ignored":
        yield from problems


def _files(directory: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(directory):
        nested = [name for name in folders if (Path(top) / name / ".git").exists()]
        folders[:] = sorted(set(folders) - _SKIPPED - set(nested))
        yield from (
            Path(top) / name
            for name in sorted(names)
            if name.endswith(_SUFFIXES) and not is_secret_name(name)
        )
