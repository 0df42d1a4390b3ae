"""Names of the secret files of a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, NODES_YAML
from stockman.config.presets import Dialect
from stockman.model.errors import Refused
from stockman.model.problem import Problem

SOPS_CONFIG = ".sops.yaml"
SECRET_MARK = ".sops."
"""Part of the name of every secret file, before its suffix."""
PARTLY_ENCRYPTED = (CLUSTER_YAML, NODES_YAML)
"""Configuration files that may be encrypted partly."""

_SKIPPED = frozenset({".git", ".stockman", ".venv", "node_modules", "__pycache__"})
_MOST = 200_000
"""Maximum number of directory entries to walk; a workspace has thousands."""


def dialect_of(directory: Path) -> Dialect:
    """Return the dialect of the existing files; classic if there are none."""
    return "toml" if (directory / CLUSTER_TOML).exists() else "classic"


def relative_name(directory: Path, name: str) -> str:
    """Return a file name relative to the workspace; refuse to leave it."""
    root = directory.resolve()
    path = Path(os.path.normpath(root / name))
    if not path.is_relative_to(root) or path == root:
        raise outside_workspace(name)
    return path.relative_to(root).as_posix()


def is_secret_name(name: str) -> bool:
    """Whether a file with this path must be encrypted."""
    base = name.rpartition("/")[2]
    return SECRET_MARK in base and base != SOPS_CONFIG


def secret_names(directory: Path) -> tuple[str, ...]:
    """Return every secret file of a workspace, sorted.

    These are files with `.sops.` in their names, and partly encrypted configuration files. Links
    are not followed; nested repositories and workspaces are skipped.
    """
    secret_names = [name for name in _files(directory) if is_secret_name(name)]
    secret_names += [name for name in PARTLY_ENCRYPTED if _is_partly_encrypted(directory / name)]
    return tuple(sorted(secret_names))


def _is_partly_encrypted(path: Path) -> bool:
    try:
        return path.is_file() and b"\nsops:" in b"\n" + path.read_bytes()
    except OSError:
        return False


def _files(directory: Path) -> Iterator[str]:
    left = _MOST
    for folder, folders, files in os.walk(directory):
        left -= len(files) + len(folders)
        if left < 0:
            return
        base = os.path.relpath(folder, directory)
        if base != "." and _is_another(folders, files):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in files:
            yield name if base == "." else f"{base}/{name}"


def _is_another(folders: list[str], files: list[str]) -> bool:
    """Whether a directory is a repository, or has rules and a configuration of its own."""
    if ".git" in folders or ".git" in files:
        return True
    return SOPS_CONFIG in files and any(name in files for name in (CLUSTER_TOML, CLUSTER_YAML))


def outside_workspace(name: str) -> Refused:
    return Refused(
        Problem(
            code="secret.outside",
            what=f"{name} is not inside this directory",
            where=name,
            why="`..`, a link or an absolute path leads out of it, and only files inside are"
            " encrypted and opened",
            fix="name a file inside the directory, relative to it",
        )
    )
