"""What a git repository keeps: the files it tracks, and every object of its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

ObjectKind = Literal["blob", "commit", "tag", "tree", "missing"]
"""What an object is. `missing`: history names it, and this copy of the repository lacks it."""
FileKind = Literal["file", "link", "repository"]
"""What an entry of the index is; a repository is kept as the name of its commit only."""


class TrackedFile(NamedTuple):
    """A file in the index."""

    path: str
    """Relative to the top of the work tree."""
    object: str
    """Name of the object that the next commit takes."""
    kind: FileKind


class StoredObject(NamedTuple):
    """An object of the history, at the first commit that has it."""

    name: str
    kind: ObjectKind
    size: int
    """Bytes; 0 where it is missing."""
    path: str
    """Of a file, relative to the top of the work tree. Empty: a commit or a tag."""
    commit: str
    """Name of the first commit that has it."""


class GitHistory(Protocol):
    """One repository, only read. `NoAnswer` where git cannot tell."""

    def top(self) -> Path | None:
        """The top of the work tree; None: there is none."""
        ...

    def tracked(self) -> tuple[TrackedFile, ...]:
        """Every file of the index."""
        ...

    def untracked(self) -> tuple[str, ...]:
        """Files that the next `git add .` takes, relative to the top; repositories end with `/`."""
        ...

    def is_shallow(self) -> bool:
        """Whether older commits were left out when the repository was cloned."""
        ...

    def commit_count(self) -> int:
        """How many commits can be reached from any branch, tag or other name."""
        ...

    def objects(self, newest: int) -> Iterator[StoredObject]:
        """Every object that so many of the newest commits have, oldest commits first."""
        ...

    def sizes(self, names: Sequence[str]) -> Iterator[int | None]:
        """How many bytes objects have, in the order asked; None: the object is missing."""
        ...

    def contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """What objects hold, in the order asked; None: the object is missing."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...
