"""How much of the schema is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import NamedTuple

from stockman_lab.pve.schema.schema import Schema

Call = tuple[str, str]
"""Method, and the path as a template."""


class Covered(NamedTuple):
    """How many calls below one folder are implemented."""

    folder: str
    implemented: int
    total: int


def coverage(schema: Schema, implemented: Set[Call]) -> tuple[Covered, ...]:
    """Counts for each folder at the top, in the order of their names."""
    total = Counter(_folder(path) for _, path in schema.operations)
    counter = Counter(_folder(path) for _, path in schema.operations.keys() & implemented)
    return tuple(Covered(folder, counter[folder], total[folder]) for folder in sorted(total))


def strangers(schema: Schema, implemented: Set[Call]) -> tuple[Call, ...]:
    """Calls that are implemented although the schema does not have them."""
    return tuple(sorted(implemented - schema.operations.keys()))


def _folder(path: str) -> str:
    return f"/{path.split('/')[1]}"
