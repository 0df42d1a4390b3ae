"""Locate and open the secrets bundle of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.secrets.keyring import Keyring
from stockman.app.secrets.reading import decrypt_file, read_secret_file
from stockman.app.workspace.secret_names import dialect_of
from stockman.config.language import Dialect
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret

if TYPE_CHECKING:
    from stockman.talos.secrets.bundle import SecretsBundle

_PATHS: dict[Dialect, str] = {
    "classic": "talos/talsecret.sops.yaml",
    "toml": "talos/secrets.sops.yaml",
}


def bundle_path(dialect: Dialect) -> str:
    """Return the bundle's path in a dialect, relative to the directory."""
    return _PATHS[dialect]


def other_bundle(directory: Path, dialect: Dialect) -> str | None:
    """Return a bundle at the path of another dialect. None: there is none."""
    for other_dialect, name in _PATHS.items():
        if other_dialect != dialect and read_secret_file(directory, name) is not None:
            return name
    return None


def open_bundle(directory: Path, keyring: Keyring) -> SecretsBundle:
    """Open the bundle of a directory; refuse a missing, unencrypted or incomplete one."""
    name = bundle_path(dialect_of(directory))
    content = read_secret_file(directory, name)
    if content is None:
        raise NotFound(_missing(name))
    return check_bundle(name, decrypt_file(content, name, keyring))


def require_bundle(directory: Path) -> None:
    """Refuse a directory without a bundle, without opening it."""
    name = bundle_path(dialect_of(directory))
    if not (directory / name).is_file():
        raise NotFound(_missing(name))


def is_bundle_name(name: str) -> bool:
    """Whether a file is the bundle of either dialect."""
    return name in _PATHS.values()


def check_bundle(name: str, plain: bytes) -> SecretsBundle:
    """Return the bundle in a plaintext; refuse an incomplete one."""
    from stockman.talos.secrets.bundle_reader import read_bundle

    problems = Problems()
    bundle = read_bundle(name, Secret(plain.decode("utf-8", "replace")), problems)
    for problem in problems.errors:
        raise Refused(problem)
    if bundle is None:
        raise ValueError("no bundle, and no reason")
    return bundle


def _missing(name: str) -> Problem:
    return Problem(
        code="bundle.absent",
        what=f"the secrets bundle {name} is missing",
        where=name,
        why="a cluster is made of its secrets, and other ones would make another cluster",
        fix="run `stockman secrets create`; for a cluster that runs already, with `--from` the"
        " machine configuration of a controller",
    )
