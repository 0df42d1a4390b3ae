"""`.stockman/secrets.lock`: the seal of every secret file, committed with the files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from stockman.crypto.seal import Seal
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record

LOCK = ".stockman/secrets.lock"
_VERSION = 1
_FIELDS = {
    "disk": re.compile(r"[0-9a-f]{64}"),
    "plain": re.compile(r"(?:[0-9a-f]{64})?"),
    "keyed_by": re.compile(r"(?:[0-9a-f]{16})?"),
    "text": re.compile(r"(?:[0-9a-f]{64})?"),
}
_OPTIONAL = {"text": ""}
"""Fields that older lock files lack, with their defaults."""


@record
class SecretLock:
    """Seals by file name."""

    seals: Mapping[str, Seal]

    def with_seal(self, name: str, seal: Seal) -> SecretLock:
        return SecretLock(seals={**self.seals, name: seal})

    def without(self, name: str) -> SecretLock:
        return SecretLock(seals={file: seal for file, seal in self.seals.items() if file != name})

    def text(self) -> str:
        """Return the file's text, sorted to avoid merge conflicts."""
        files = {
            name: {field: getattr(seal, field) for field in _FIELDS}
            for name, seal in sorted(self.seals.items())
        }
        return json.dumps({"version": _VERSION, "files": files}, indent=2) + "\n"


EMPTY = SecretLock(seals={})


def read_lock(directory: Path) -> SecretLock:
    """Read the lock file of a workspace; empty if missing, refused if invalid."""
    try:
        content = (directory / LOCK).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return EMPTY
    except OSError as error:
        raise _invalid_lock(f"the system says: {error.strerror or type(error).__name__}") from None
    return parse_lock(content)


def parse_lock(content: bytes) -> SecretLock:
    """Return the seals in a lock file."""
    try:
        tree: object = json.loads(content, object_pairs_hook=_reject_duplicates)
    except json.JSONDecodeError as error:
        raise _invalid_lock(f"line {error.lineno} is no JSON") from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise _invalid_lock("it is no JSON, or holds a name twice") from None
    if not isinstance(tree, dict) or not isinstance(tree.get("version"), int):
        raise _invalid_lock("it has no `version`")
    if tree["version"] != _VERSION:
        raise _invalid_lock(f"its version is {tree['version']}, and this stockman knows {_VERSION}")
    files = tree.get("files")
    if not isinstance(files, dict):
        raise _invalid_lock("it has no `files`")
    return SecretLock(seals={name: _seal(name, entry) for name, entry in files.items()})


def _seal(name: str, entry: object) -> Seal:
    if not isinstance(entry, dict) or {*entry, *_OPTIONAL} != set(_FIELDS):
        raise _invalid_lock(f"the entry of {name} has other keys than {', '.join(_FIELDS)}")
    entry = _OPTIONAL | entry
    for field, shape in _FIELDS.items():
        if not isinstance(entry[field], str) or not shape.fullmatch(entry[field]):
            raise _invalid_lock(f"{field} of {name} is no hash")
    return Seal(**entry)


def _reject_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("a name stands twice")
    return unique


def _invalid_lock(why: str) -> Refused:
    return Refused(
        Problem(
            code="secret.lock",
            what=f"{LOCK} cannot be used",
            where=LOCK,
            why=why,
            fix="restore it from git; or delete it and run `stockman secrets status --accept`,"
            " which writes it anew: it holds hashes only, no secret is lost",
        )
    )
