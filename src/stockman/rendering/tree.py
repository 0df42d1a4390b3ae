"""The files of a repository before they are written: text in the clear, secrets apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from stockman.model.errors import Conflict
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret

REPOSITORY = "repository"
"""Owner of files that belong to no component."""


@record
class RenderedFile:
    """One file: either plain text, or a secret that is encrypted before it is written."""

    path: str
    """Relative to the repository, with `/`."""
    owner: str
    """The component it belongs to, or `repository`."""
    text: str | Secret
    documents: tuple[object, ...] | None = field(default=None, repr=False, compare=False)
    """What a plain text says, where it was made from that; None: it has to be read."""
    rights: int | None = None
    """Permissions of a new file, where those of all others are not meant."""

    @property
    def is_secret(self) -> bool:
        return isinstance(self.text, Secret)


class FileTree:
    """Files by path; a path is claimed once."""

    def __init__(self, files: Iterable[RenderedFile] = ()) -> None:
        self._files: dict[str, RenderedFile] = {}
        for file in files:
            self.add(file)

    def add(self, file: RenderedFile) -> None:
        """Put a file into the tree; refuses a path that another component has."""
        held = self._files.get(file.path)
        if held is not None:
            raise Conflict(_duplicate_path(held, file))
        self._files[file.path] = file

    def __iter__(self) -> Iterator[RenderedFile]:
        return iter(sorted(self._files.values(), key=lambda file: file.path))

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: str) -> RenderedFile | None:
        return self._files.get(path)

    def replaced(self, file: RenderedFile) -> None:
        """Put a file into the tree whatever stands there: a user's own file wins."""
        self._files[file.path] = file

    def removed(self, path: str) -> None:
        """Take a file out; a path that is not there stays away."""
        self._files.pop(path, None)


def _duplicate_path(held: RenderedFile, file: RenderedFile) -> Problem:
    return Problem(
        code="render.collision",
        what=f"{held.owner} and {file.owner} both render {file.path}",
        where=file.path,
        why="a file belongs to one component; the other would be lost",
        fix=f"turn {held.owner} or {file.owner} off, or give one another namespace",
    )
