"""A last look at what is about to be written: no secret in a file that is not encrypted."""

from __future__ import annotations

from stockman.app.rendering.materials import UNKNOWN
from stockman.catalog.component import InputFiles
from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.secret import Secret, SecretForm, find_secrets
from stockman.rendering.secret_encodings import secret_encodings
from stockman.rendering.tree import FileTree

_SHORTEST = 8
"""Shorter texts occur everywhere."""
_BETWEEN = "\0"
"""Stands in no text, so that nothing is found across two files."""


def check_leaks(tree: FileTree, desired: Desired, materials: InputFiles) -> None:
    """Refuse a tree in which a secret stands in a plain file, as it is or in a common encoding."""
    plain = [file for file in tree if isinstance(file.text, str)]
    text = _BETWEEN.join(str(file.text) for file in plain)
    for form, name in _search_values(desired, materials).items():
        if form in text:
            held = next(file for file in plain if form in str(file.text))
            raise Refused(_leak(held.path, held.owner, name))


def _search_values(desired: Desired, materials: InputFiles) -> dict[str, str]:
    """What to look for, and the secret that each is a form of."""
    return {
        form.decode(errors="surrogateescape"): name
        for name, secret in (*find_secrets(desired), *find_secrets(materials, "materials"))
        if _is_searchable(secret)
        for form in secret_encodings(secret.reveal())
    }


def _is_searchable(secret: Secret) -> bool:
    text = secret.reveal().strip()
    return secret.form is SecretForm.LITERAL and len(text) >= _SHORTEST and text != UNKNOWN


def _leak(path: str, owner: str, name: str) -> Problem:
    return Problem(
        code="render.leak",
        what=f"{owner} would write a secret into {path}",
        where=path,
        why=f"the text of {name} stands in it, and only files named *.sops.* are encrypted",
        fix="give the secret to the component by the name of a Secret object",
    )
