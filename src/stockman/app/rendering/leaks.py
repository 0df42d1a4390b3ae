"""Check that no secret is written to an unencrypted file."""

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
"""Shorter values occur by chance."""
_BETWEEN = "\0"
"""Separates texts, so that nothing matches across two files."""


def check_leaks(tree: FileTree, desired: Desired, materials: InputFiles) -> None:
    """Refuse a tree with a secret in a plain file, verbatim or in a common encoding."""
    plain = [file for file in tree if isinstance(file.text, str)]
    text = _BETWEEN.join(str(file.text) for file in plain)
    for form, name in _search_values(desired, materials).items():
        if form in text:
            held = next(file for file in plain if form in str(file.text))
            raise Refused(_leak(held.path, held.owner, name))


def _search_values(desired: Desired, materials: InputFiles) -> dict[str, str]:
    """Return what to search for, and the name of the secret behind it."""
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
