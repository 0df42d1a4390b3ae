"""Validate the files of a directory, its components and patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from stockman.app.workspace.directory import load_directory
from stockman.app.workspace.secret_names import PARTLY_ENCRYPTED
from stockman.config.load import LoadedConfig
from stockman.config.redact import build_redactor
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired
from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record


@record
class Validation:
    """The outcome of one validation."""

    problems: Problems
    loaded: LoadedConfig
    patch_texts: dict[str, str] = field(default_factory=dict)
    """Texts of patch files by name."""

    @property
    def texts(self) -> dict[str, str]:
        """Texts of all files by name."""
        return {**self.loaded.texts, **self.patch_texts}

    @property
    def redact(self) -> Callable[[str], str]:
        """Masks the secrets of a line."""
        return build_redactor(self.loaded.secrets)


def validate_files(directory: Path) -> Validation:
    """Check the files of a directory: form, rules between keys, and unencrypted secrets."""
    loaded = load_directory(directory)
    check_rules(loaded)
    _check_settings(loaded)
    for origin in loaded.plain_secrets:
        loaded.problems.add(_check_secrets_in_git(directory, origin))
    for origin in loaded.encrypted:
        loaded.problems.add(_is_encrypted(origin))
    return Validation(problems=loaded.problems, loaded=loaded)


def _check_settings(loaded: LoadedConfig) -> None:
    """Check settings of components, which only the catalog defines."""
    written = {
        name: component
        for name, component in loaded.configuration.components.items()
        if component.settings
    }
    if not written:
        return
    from stockman.catalog.registry import component, names
    from stockman.catalog.selection import read_settings

    for name in written.keys() & set(names()):
        read_settings(component(name), written[name], loaded.problems)


def _check_secrets_in_git(directory: Path, origin: Origin) -> Problem:
    from stockman.adapters.git.probe import LocalGitProbe

    exposure = LocalGitProbe(directory).exposure(origin.at.file)
    tracked = exposure == "tracked"
    return Problem(
        code="secret.exposed",
        what=f"{origin.name} is an unencrypted secret",
        where=origin.at,
        why="git tracks the file, and its history keeps the value forever"
        if tracked
        else "anybody who can read the file can read the value",
        fix=f"{_secret_fix(origin.at.file)}; change the secret if it was shared",
        severity=Severity.ERROR if tracked else Severity.WARNING,
    )


def _secret_fix(file: str) -> str:
    reference = "write a reference, `${NAME}`, `file:path` or `sops:path#key`"
    if file in PARTLY_ENCRYPTED:
        return f"encrypt it with `stockman secrets edit {file}`, or {reference}"
    return reference


def _is_encrypted(origin: Origin) -> Problem:
    return Problem(
        code="config.encrypted",
        what=f"{origin.name} is encrypted, but it is not a secret",
        where=origin.at,
        why="only secrets may be encrypted; other values are needed for checks and rendering",
        fix="write it unencrypted; the rule of this file in .sops.yaml must match secret keys only,"
        " like the rule that `stockman init` writes",
    )


def load_desired(directory: Path) -> Desired:
    """Return the desired state of a directory; refuse files with errors."""
    return resolve(validate_files(directory).loaded)
