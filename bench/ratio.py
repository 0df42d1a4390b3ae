"""What is measured: ratios, and the table of them that is printed."""

from __future__ import annotations

from typing import NamedTuple


class Ratio(NamedTuple):
    """One measured ratio; no limit: printed for the record."""

    name: str
    value: float
    limit: float | None
    detail: str


def report(ratios: list[Ratio]) -> int:
    """Print a table; the exit status."""
    over = False
    for one in ratios:
        verdict = "for the record" if one.limit is None else f"limit {one.limit:g}"
        if one.limit is not None and one.value > one.limit:
            verdict += "  OVER"
            over = True
        print(f"{one.name:42} {one.value:7.2f}   {verdict:20} {one.detail}")
    return 1 if over else 0
