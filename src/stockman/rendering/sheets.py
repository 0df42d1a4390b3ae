"""Sheets as text: plain ones never hold a secret, encrypted ones may."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import Object, Sheet
from stockman.config.writers.commented import strip_comments
from stockman.config.writers.yaml_writer import render_yaml_document
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.secret import Secret, SecretForm
from stockman.rendering.tree import RenderedFile


def render_sheet(path: str, owner: str, sheet: Sheet) -> RenderedFile:
    """A sheet as file; refuses a secret that is on its way into a file that is not encrypted."""
    if sheet.is_secret:
        text = "".join(render_yaml_document(_reveal_secrets(one)) for one in sheet.objects)
        return RenderedFile(path=path, owner=owner, text=Secret(text))
    for one in sheet.objects:
        for place in _secrets(one, _title(one)):
            raise Refused(_leak(path, owner, place))
    text = "".join(render_yaml_document(one) for one in sheet.objects)
    said = tuple(strip_comments(one) for one in sheet.objects)
    return RenderedFile(path=path, owner=owner, text=text, documents=said)


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


def _secrets(value: object, place: str) -> Iterator[str]:
    if isinstance(value, Secret):
        yield place
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _secrets(item, f"{place}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _secrets(item, f"{place}[{index}]")


def _title(one: Object) -> str:
    return str(one.get("kind", "file"))


def _missing_secret(secret: Secret) -> Problem:
    return Problem(
        code="secret.unresolved",
        what="a secret of the repository is only named, not given",
        why=f"{secret.reference} is a reference; the cluster would take it for the secret itself",
        fix="resolve references before files are rendered",
    )


def _leak(path: str, owner: str, place: str) -> Problem:
    return Problem(
        code="render.leak",
        what=f"{owner} would write a secret into {path}",
        where=path,
        why=f"{place} is a secret, and only files named *.sops.* are encrypted",
        fix="give the secret to the component by the name of a Secret object",
    )
