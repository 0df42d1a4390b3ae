"""Whether the files of a directory are right, and everything that is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stockman.app.workspace import load_directory
from stockman.config.load import Loaded
from stockman.config.redact import redactor
from stockman.config.rules import check
from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record


@record
class Validation:
    """The outcome of one validation."""

    problems: Problems
    loaded: Loaded

    @property
    def texts(self) -> dict[str, str]:
        return self.loaded.texts

    @property
    def redact(self) -> Callable[[str], str]:
        """What may be shown of a line of the files."""
        return redactor(self.loaded.secrets)


def validate(directory: Path) -> Validation:
    """Check the files of a directory: form, rules between keys, and secrets in the clear."""
    loaded = load_directory(directory)
    check(loaded)
    for origin in loaded.literals:
        loaded.problems.add(_exposed(directory, origin))
    return Validation(problems=loaded.problems, loaded=loaded)


def _exposed(directory: Path, origin: Origin) -> Problem:
    from stockman.adapters.git import GitRepo

    exposure = GitRepo(directory).exposure(origin.at.file)
    tracked = exposure == "tracked"
    return Problem(
        code="secret.exposed",
        what=f"{origin.name} is a secret in the clear",
        where=origin.at,
        why="git keeps the file, and history keeps the value for ever"
        if tracked
        else "whoever can read the file can read the value",
        fix="write a reference, `${NAME}` or `file:path`, and change the secret if it was shared",
        severity=Severity.ERROR if tracked else Severity.WARNING,
    )
