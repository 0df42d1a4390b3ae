"""A last look at what is about to be written: no secret in a file that is not encrypted."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.materials import UNKNOWN
from stockman.catalog.scene import Materials
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import fields_of, is_record
from stockman.model.secret import Secret, SecretForm
from stockman.rendering.tree import FileTree

_SHORTEST = 8
"""Shorter texts occur everywhere."""


def check_leaks(tree: FileTree, desired: Desired, materials: Materials) -> None:
    """Refuse a tree in which a secret's text stands in a plain file."""
    known = dict(_secrets(desired, "")) | dict(_secrets(materials, "materials"))
    texts = {
        secret.reveal().strip(): name
        for name, secret in known.items()
        if secret.form is SecretForm.LITERAL and len(secret.reveal().strip()) >= _SHORTEST
    }
    texts.pop(UNKNOWN, None)
    for file in tree:
        if isinstance(file.text, str):
            for text, name in texts.items():
                if text in file.text:
                    raise Refused(_leak(file.path, file.owner, name))


def _secrets(value: object, name: str) -> Iterator[tuple[str, Secret]]:
    if isinstance(value, Secret):
        yield name, value
    elif isinstance(value, str | int | None):
        return
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _secrets(item, f"{name}.{key}".lstrip("."))
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from _secrets(item, f"{name}[{index}]")
    elif is_record(value):
        for field in fields_of(value):
            if field.name != "origins":
                yield from _secrets(getattr(value, field.name), f"{name}.{field.name}".lstrip("."))


def _leak(path: str, owner: str, name: str) -> Problem:
    return Problem(
        code="render.leak",
        what=f"{owner} would write a secret into {path}",
        where=path,
        why=f"the text of {name} stands in it, and only files named *.sops.* are encrypted",
        fix="give the secret to the component by the name of a Secret object",
    )
