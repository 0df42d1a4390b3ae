"""The rendered files of a repository before they are written: plain text and secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from stockman.catalog.app import Object, Sheet
from stockman.config.writers.yaml_writer import render_yaml_document, strip_comments
from stockman.model.errors import Conflict, Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret, SecretForm

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


def render_sheet(path: str, owner: str, sheet: Sheet) -> RenderedFile:
    """Render a file; refuses a secret in a file that is not encrypted."""
    if sheet.is_secret:
        text = "".join(render_yaml_document(_reveal_secrets(content)) for content in sheet.objects)
        return RenderedFile(path=path, owner=owner, text=Secret(text))
    for content in sheet.objects:
        for location in _secrets(content, _title(content)):
            raise Refused(_leak(path, owner, location))
    text = "".join(render_yaml_document(content) for content in sheet.objects)
    documents = tuple(strip_comments(content) for content in sheet.objects)
    return RenderedFile(path=path, owner=owner, text=text, documents=documents)


def _reveal_secrets(value: object) -> object:
    if isinstance(value, Secret):
        if value.form is not SecretForm.LITERAL:
            raise Refused(_missing_secret(value))
        return value.reveal()
    if isinstance(value, dict):
        return {key: _reveal_secrets(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_reveal_secrets(item) for item in value]
    return value


def _secrets(value: object, location: str) -> Iterator[str]:
    if isinstance(value, Secret):
        yield location
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _secrets(item, f"{location}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _secrets(item, f"{location}[{index}]")


def _title(content: Object) -> str:
    return str(content.get("kind", "file"))


def _missing_secret(secret: Secret) -> Problem:
    return Problem(
        code="secret.unresolved",
        what="a secret of the repository is an unresolved reference",
        why=f"{secret.reference} is a reference; the cluster would use its text as the secret",
        fix="resolve references before rendering",
    )


def _leak(path: str, owner: str, location: str) -> Problem:
    return Problem(
        code="render.leak",
        what=f"{owner} would write a secret to {path}",
        where=path,
        why=f"{location} is a secret, and only files named *.sops.* are encrypted",
        fix="refer to a Secret object by name instead",
    )
