"""Secrets in files that are not encrypted: by what templates did, and again by looking for them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.rendering.secret_encodings import secret_encodings
from stockman.rendering.templates.render import RenderResult

_SEALED = re.compile(r"[^/]+\.sops\.[^/]+$")


def is_sealed(path: str) -> bool:
    """Whether the file of this path is encrypted before it is written. `.sops.yaml` is not."""
    return _SEALED.search(path) is not None


def find_exposed_secrets(rendering: RenderResult) -> Problems:
    """Every secret in a file that is written as it is."""
    problems = Problems()
    for path, file in rendering.files.items():
        if file.content is None or is_sealed(path):
            continue
        told: set[str] = set()
        for reveal in file.reveals:
            told.add(reveal.name)
            problems.add(_problem(reveal.name, path, reveal.at))
        for name in sorted(secrets_in_file(file.content, rendering.secrets)):
            if name not in told:
                problems.add(_problem(name, path, file.origin))
    return problems


def secrets_in_file(content: bytes, secrets: Mapping[str, Secret]) -> set[str]:
    """The names of the secrets that a file holds, as they are or in a common encoding."""
    folded = content.lower()
    return {
        name
        for name, secret in secrets.items()
        if any(form.lower() in folded for form in secret_encodings(secret.reveal()))
    }


def _problem(name: str, path: str, where: Position | str) -> Problem:
    return Problem(
        code="template.secret-exposed",
        what=f"{name} would stand in {path} for everybody to read",
        where=where,
        why="only files with .sops. before the last suffix are encrypted",
        fix="move it to a *.sops.* file, and refer to that",
    )
