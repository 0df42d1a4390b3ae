"""Branches, tags and files of a bare repository, read by the git program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import dirname, join, normpath

_KEPT = ("HOME", "PATH", "LANG", "TMPDIR")
_SECONDS = 60
_LINK = "120"
_TREES = 8


class Unreadable(Exception):
    """git cannot read a repository; the text is its own."""


@dataclass(frozen=True, slots=True)
class Commit:
    """What a name stands for."""

    hash: str
    subject: str = ""


class Repository:
    """One bare repository."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def references(self) -> dict[str, str]:
        """Commits by the full names of branches and tags; tags lead to what they are on."""
        form = "%(refname) %(objectname) %(*objectname)"
        lines = self._git("for-each-ref", f"--format={form}", "refs").decode().splitlines()
        rows = [line.split(" ") for line in lines if line]
        return {name: inner or outer for name, outer, inner in rows}

    def commit(self, hash_: str) -> Commit | None:
        """A commit by its hash; None: there is none."""
        try:
            git = self._git("show", "--no-patch", "--format=%H%n%s", f"{hash_}^{{commit}}", "--")
        except Unreadable:
            return None
        full, _, subject = git.decode("utf-8", "replace").rstrip("\n").partition("\n")
        return Commit(full, subject)

    def files(self, commit: str) -> Mapping[str, bytes]:
        """All files of a commit."""
        return _files(self.directory, commit)

    def _git(self, *arguments: str) -> bytes:
        return _git(self.directory, arguments)


@lru_cache(_TREES)
def _files(directory: str, commit: str) -> Mapping[str, bytes]:
    listed = _git(directory, ("ls-tree", "-r", "-z", "--full-tree", commit))
    blobs: dict[str, str] = {}
    links: dict[str, str] = {}
    for line in listed.decode("utf-8", "surrogateescape").split("\0"):
        told, _, path = line.partition("\t")
        if told:
            mode, _, name = told.split(" ")
            (links if mode.startswith(_LINK) else blobs)[path] = name
    names = list(dict.fromkeys((*blobs.values(), *links.values())))
    contents = dict(zip(names, _contents(directory, names), strict=True))
    files = {path: contents[name] for path, name in blobs.items()}
    for path, name in links.items():
        target = normpath(join(dirname(path), contents[name].decode()))
        files.update(
            (f"{path}{other[len(target) :]}", content)
            for other, content in list(files.items())
            if other == target or other.startswith(f"{target}/")
        )
    return files


def _contents(directory: str, names: Sequence[str]) -> list[bytes]:
    if not names:
        return []
    sent = "\n".join(names).encode()
    output = _git(directory, ("cat-file", "--batch"), sent)
    outputs = []
    at = 0
    for _ in names:
        end = output.index(b"\n", at)
        size = int(output[at:end].rsplit(b" ", 1)[1])
        outputs.append(output[end + 1 : end + 1 + size])
        at = end + size + 2
    return outputs


def _git(directory: str, arguments: Sequence[str], sent: bytes = b"") -> bytes:
    variables = {name: os.environ[name] for name in _KEPT if name in os.environ}
    command = ["git", "-c", "safe.directory=*", "-C", directory, *arguments]
    try:
        done = subprocess.run(
            command, input=sent, capture_output=True, check=False, timeout=_SECONDS, env=variables
        )
    except (OSError, subprocess.TimeoutExpired) as why:
        raise Unreadable(str(why)) from None
    if done.returncode != 0:
        raise Unreadable(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout
