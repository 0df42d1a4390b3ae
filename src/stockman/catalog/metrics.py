"""Known metrics with their sources; alert rules and dashboards use no others."""

from __future__ import annotations

from functools import cache
from json import loads
from pathlib import Path
from typing import NamedTuple


class Metric(NamedTuple):
    """The source of a metric."""

    component: str
    """The program that exports it."""
    version: str
    """Release in which it was found."""
    path: str
    """Source file in that release."""


@cache
def metrics() -> dict[str, Metric]:
    """Return all known metrics by name."""
    rows = loads((Path(__file__).parent / "metrics.json").read_bytes())
    return {name: Metric(**row) for name, row in rows.items()}
