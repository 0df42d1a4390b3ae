"""The tracked files and the objects of a git repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

ObjectKind = Literal["blob", "commit", "tag", "tree", "missing"]
"""The type of an object. `missing`: it is not in this clone."""
FileKind = Literal["file", "link", "repository"]
"""The type of an index entry; `repository`: a submodule."""


class TrackedFile(NamedTuple):
    """A file in the index."""

    path: str
    """Relative to the top of the work tree."""
    object: str
    """Name of the staged object."""
    kind: FileKind


class StoredObject(NamedTuple):
    """An object of the history, with the first commit that contains it."""

    name: str
    kind: ObjectKind
    size: int
    """Bytes; 0 if it is missing."""
    path: str
    """Path of a file, relative to the top of the work tree. Empty: a commit or a tag."""
    commit: str
    """Name of the first commit that contains it."""


class GitHistory(Protocol):
    """Read access to a repository. Methods raise `NoAnswer` if git fails."""

    def top(self) -> Path | None:
        """Return the top of the work tree; None: not in a work tree."""
        ...

    def tracked_files(self) -> tuple[TrackedFile, ...]:
        """List the files of the index."""
        ...

    def untracked_files(self) -> tuple[str, ...]:
        """List files that `git add .` would add, relative to the top; submodules end with `/`."""
        ...

    def is_shallow(self) -> bool:
        """Return whether the clone is shallow."""
        ...

    def commit_count(self) -> int:
        """Return the number of commits that are reachable from any ref."""
        ...

    def objects(self, newest: int) -> Iterator[StoredObject]:
        """Yield the objects of the newest commits, oldest commits first."""
        ...

    def sizes(self, names: Sequence[str]) -> Iterator[int | None]:
        """Yield the sizes of objects in bytes, in order; None: the object is missing."""
        ...

    def contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the contents of objects, in order; None: the object is missing."""
        ...

    def close(self) -> None:
        """Stop all processes."""
        ...
