"""Metrics that exist, with where each was found; rules and dashboards use no others."""

from __future__ import annotations

from functools import cache
from json import loads
from pathlib import Path
from typing import NamedTuple


class Metric(NamedTuple):
    """Where a metric comes from."""

    component: str
    """The program that tells it."""
    version: str
    """Release in which it was looked up."""
    path: str
    """File of that release's source that defines it."""


@cache
def metrics() -> dict[str, Metric]:
    """Every known metric by name."""
    rows = loads((Path(__file__).parent / "metrics.json").read_bytes())
    return {name: Metric(**row) for name, row in rows.items()}
