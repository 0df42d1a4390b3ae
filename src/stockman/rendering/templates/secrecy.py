"""Find secrets in files that are not encrypted, by tracking and by searching."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.model.origin import Position
from stockman.model.pattern import pattern
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.rendering.secret_encodings import secret_encodings
from stockman.rendering.templates.render import RenderResult

_SEALED = pattern(r"[^/]+\.sops\.[^/]+$")


def is_sealed(path: str) -> bool:
    """Return whether the file is encrypted before it is written. `.sops.yaml` is not."""
    return _SEALED.search(path) is not None


def find_exposed_secrets(rendering: RenderResult) -> Problems:
    """Return a problem for each secret in a file that is not encrypted."""
    problems = Problems()
    for path, file in rendering.files.items():
        if file.content is None or is_sealed(path):
            continue
        reported: set[str] = set()
        for reveal in file.reveals:
            reported.add(reveal.name)
            problems.add(_problem(reveal.name, path, reveal.at))
        for name in sorted(secrets_in_file(file.content, rendering.secrets)):
            if name not in reported:
                problems.add(_problem(name, path, file.origin))
    return problems


def secrets_in_file(content: bytes, secrets: Mapping[str, Secret]) -> set[str]:
    """Return the names of secrets that a file contains, in any common encoding."""
    folded = content.lower()
    return {
        name
        for name, secret in secrets.items()
        if any(form.lower() in folded for form in secret_encodings(secret.reveal()))
    }


def _problem(name: str, path: str, where: Position | str) -> Problem:
    return Problem(
        code="template.secret-exposed",
        what=f"{name} would be readable in {path}",
        where=where,
        why="only files with .sops. before the suffix are encrypted",
        fix="move it to a *.sops.* file, and refer to that",
    )
