"""Controllers of Talos, and which resources each of them reads and writes.

What is known was read from the controllers' own words in the sources of the four minors; those
that find their inputs out while they run, and those made from a pattern, are missing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_TABLE = "controllers.json"


@dataclass(frozen=True, slots=True)
class Edge:
    """A controller and a kind of resource."""

    controller: str
    kind: int
    """0 writes alone, 1 reads and holds, 2 reads, 3 writes with others, 4 reads what goes."""
    namespace: str
    type: str
    id: str


@cache
def edges_of(minor: str) -> tuple[Edge, ...]:
    """All that controllers of a minor read and write, by the names of controllers."""
    text = files(__package__).joinpath(_TABLE).read_text(encoding="utf-8")
    told: dict[str, list[str]] = json.loads(text)
    return tuple(
        _edge(controller, row)
        for controller, rows in told.items()
        for row in rows
        if _is_known(row, minor)
    )


def _edge(controller: str, row: str) -> Edge:
    kind, resource = row.split(" ")[:2]
    namespace, type_, identity = resource.split("/", 2)
    return Edge(controller, int(kind), namespace, type_, identity)


def _is_known(row: str, minor: str) -> bool:
    parts = row.split(" ")
    if len(parts) == 2:
        return True
    since, _, until = parts[2].partition("-")
    return _number(since) <= _number(minor) <= _number(until)


def _number(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))
