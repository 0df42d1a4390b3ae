"""Names of the secret files of a workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stockman.config.language import Dialect
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, NODES_YAML
from stockman.model.errors import Refused
from stockman.model.problem import Problem

SOPS_CONFIG = ".sops.yaml"
SECRET_MARK = ".sops."
TOKENS_FILE = "talos/proxmox-tokens.sops.yaml"
"""Secrets of the Proxmox tokens that stockman created."""
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


GITIGNORE = ".gitignore"

_HEADING = "# secrets and run journals of stockman: never committed"
_PATTERNS = (
    "/age.key",
    "/github-deploy.key",
    "/github-deploy.key.pub",
    "/github-push-token.txt",
    "/deploy.key",
    "/deploy.key.pub",
    "/flux-webhook-token.txt",
    "/cloudflare-tunnel.json",
    "/kubeconfig",
    "/talosconfig",
    "/talos/talosconfig",
    "/talos/clusterconfig/",
    "/.stockman/runs/",
    "/.stockman/lab.*",
    ".*.stockman-new",
)


def missing_lines(existing: bytes) -> bytes:
    """Return lines to append to a `.gitignore`. Empty: it is complete."""
    present = {line.strip().removeprefix(b"/") for line in existing.splitlines()}
    missing = [
        pattern for pattern in _PATTERNS if pattern.removeprefix("/").encode() not in present
    ]
    if not missing:
        return b""
    end = b"\r\n" if b"\r\n" in existing else b"\n"
    lines = [_HEADING.encode(), *(pattern.encode() for pattern in missing)]
    added = b"".join(line + end for line in lines)
    if not existing:
        return added
    return (end if existing.endswith(b"\n") else end * 2) + added
