"""Secrets in files that are not encrypted: by what templates did, and again by looking for them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.rendering.templates.render import Rendering

_SEALED = re.compile(r"[^/]+\.sops\.[^/]+$")
_SHORTEST = 6
"""Characters; shorter texts stand everywhere by chance."""
_SHORTEST_LINE = 20
_ARMOR = "-----"


def is_sealed(path: str) -> bool:
    """Whether the file of this path is encrypted before it is written. `.sops.yaml` is not."""
    return _SEALED.search(path) is not None


def exposed(rendering: Rendering) -> Problems:
    """Every secret in a file that is written as it is."""
    problems = Problems()
    for path, file in rendering.files.items():
        if file.content is None or is_sealed(path):
            continue
        told: set[str] = set()
        for reveal in file.reveals:
            told.add(reveal.name)
            problems.add(_problem(reveal.name, path, reveal.at))
        for name in sorted(found_in(file.content, rendering.secrets)):
            if name not in told:
                problems.add(_problem(name, path, file.origin))
    return problems


def found_in(content: bytes, secrets: Mapping[str, Secret]) -> set[str]:
    """The names of the secrets that a file holds, as they are or in a common encoding."""
    folded = content.lower()
    return {
        name
        for name, secret in secrets.items()
        if any(form.lower() in folded for form in forms(secret.reveal()))
    }


def forms(text: str) -> Iterator[bytes]:
    """What a secret may look like in a file: each line of it, quoted, escaped, in base64."""
    stripped = text.strip()
    if len(stripped) < _SHORTEST:
        return
    raw = stripped.encode()
    yield raw
    yield json.dumps(stripped)[1:-1].encode()
    yield quote(stripped, safe="").encode()
    for shift in range(3):
        yield from _base64_core(raw, shift)
    for line in stripped.splitlines() if "\n" in stripped else ():
        if len(line.strip()) >= _SHORTEST_LINE and not line.startswith(_ARMOR):
            yield line.strip().encode()


def _base64_core(raw: bytes, shift: int) -> Iterator[bytes]:
    """Base64 of a text that starts at any place of a group of three, without what is around it."""
    encoded = base64.b64encode(bytes(shift) + raw)
    core = encoded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
    if len(core) >= _SHORTEST:
        yield core


def _problem(name: str, path: str, where: Position | str) -> Problem:
    return Problem(
        code="template.secret-exposed",
        what=f"{name} would stand in {path} for everybody to read",
        where=where,
        why="only files with .sops. before the last suffix are encrypted",
        fix="move it to a *.sops.* file, and refer to that",
    )
