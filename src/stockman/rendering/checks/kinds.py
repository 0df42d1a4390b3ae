"""Tables of kinds: what an object of each kind that stockman renders may hold."""

from __future__ import annotations

from functools import cache
from json import loads
from pathlib import Path
from typing import Any, NamedTuple

PLACE = Path(__file__).parent / "shapes"
"""One file per kind, written by `scripts/write_object_schemas.py`; kustomize's by hand."""


class Kind(NamedTuple):
    """What is known of a kind."""

    namespaced: bool
    root: str | int
    """The shape of whole objects, without `apiVersion`, `kind`, `metadata` and `status`."""
    shapes: tuple[dict[str, Any], ...]
    """Shapes refer to each other by number; a text is the name of a leaf."""


def file_of(api_version: str, kind: str) -> str:
    """Where the table of a kind is, below the directory of all."""
    group, _, version = api_version.rpartition("/")
    return f"{group or 'core'}/{kind.lower()}_{version}.json"


@cache
def kind_of(api_version: str, kind: str) -> Kind | None:
    """The table of a kind. None: there is none."""
    if "." in kind or "/" in kind or api_version.startswith((".", "/")) or ".." in api_version:
        return None
    try:
        text = (PLACE / file_of(api_version, kind)).read_bytes()
    except (OSError, ValueError):
        return None
    found = loads(text)
    return Kind(namespaced=found["namespaced"], root=found["root"], shapes=tuple(found["shapes"]))
