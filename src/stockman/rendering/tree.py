"""The rendered files of a repository before they are written: plain text and secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from stockman.model.errors import Conflict
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret

REPOSITORY = "repository"
"""Owner of files that do not belong to a component."""


@record
class RenderedFile:
    """A file: either plain text, or a secret that is encrypted before it is written."""

    path: str
    """Relative to the repository, with `/`."""
    owner: str
    """The component, or `repository`."""
    text: str | Secret
    documents: tuple[object, ...] | None = field(default=None, repr=False, compare=False)
    """The parsed content of a plain text, if it is known; None: it has to be parsed."""
    rights: int | None = None
    """Permissions of a new file; None: the default."""

    @property
    def is_secret(self) -> bool:
        return isinstance(self.text, Secret)


class FileTree:
    """Files by path. Each path has one owner."""

    def __init__(self, files: Iterable[RenderedFile] = ()) -> None:
        self._files: dict[str, RenderedFile] = {}
        for file in files:
            self.add(file)

    def add(self, file: RenderedFile) -> None:
        """Add a file; refuses a path that another component uses."""
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

    def replace(self, file: RenderedFile) -> None:
        """Add or replace a file: a user's own file has priority."""
        self._files[file.path] = file

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        self._files.pop(path, None)


def _duplicate_path(held: RenderedFile, file: RenderedFile) -> Problem:
    return Problem(
        code="render.collision",
        what=f"{held.owner} and {file.owner} both render {file.path}",
        where=file.path,
        why="a file belongs to one component; the other one would be lost",
        fix=f"disable {held.owner} or {file.owner}, or use another namespace for one of them",
    )
