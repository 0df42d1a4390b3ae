"""`.stockman/rendered.lock`: which files of a repository are rendered, and as what."""

from __future__ import annotations

import json
from collections.abc import Mapping

from stockman.model.errors import Rejected
from stockman.model.problem import Problem
from stockman.rendering.ownership import Owned

PATH = ".stockman/rendered.lock"
_SCHEMA = 1


def lock_text(owned: Mapping[str, Owned]) -> str:
    """The lock as file: one line per entry, sorted, so that merges stay small."""
    lines = [
        f"    {json.dumps(path)}: {json.dumps(_entry(one), sort_keys=True)}"
        for path, one in sorted(owned.items())
    ]
    body = ",\n".join(lines)
    files = f"{{\n{body}\n  }}" if lines else "{}"
    return f'{{\n  "schema": {_SCHEMA},\n  "files": {files}\n}}\n'


def read_lock(text: str) -> dict[str, Owned]:
    """What a lock says; raises Rejected for one that this version did not write."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise Rejected(_broken(f"it is no JSON: {error}")) from None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        raise Rejected(_broken(f"its schema is not {_SCHEMA}"))
    files = content.get("files")
    if not isinstance(files, dict):
        raise Rejected(_broken("it has no list of files"))
    return {path: _owned(path, entry) for path, entry in files.items()}


def _entry(one: Owned) -> dict[str, str]:
    entry = {"component": one.component, "sha256": one.digest}
    return entry | {"accepted": one.accepted} if one.accepted else entry


def _owned(path: str, entry: object) -> Owned:
    if not isinstance(entry, dict):
        raise Rejected(_broken(f"the entry of {path} is no mapping"))
    texts = [entry.get(key, "") for key in ("sha256", "component", "accepted")]
    if not all(isinstance(text, str) for text in texts) or not texts[0]:
        raise Rejected(_broken(f"the entry of {path} has no hash"))
    digest, component, accepted = (str(text) for text in texts)
    return Owned(digest=digest, component=component, accepted=accepted)


def _broken(why: str) -> Problem:
    return Problem(
        code="render.lock",
        what="the list of rendered files cannot be read",
        where=PATH,
        why=why,
        fix="restore the file from git; without it no file of yours is told from a rendered one",
    )
