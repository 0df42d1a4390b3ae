"""Write YAML files of apps; secrets are refused in files that are not encrypted."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import Object, Sheet
from stockman.config.writers.yaml_writer import render_yaml_document, strip_comments
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.secret import Secret, SecretForm
from stockman.rendering.tree import RenderedFile


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
