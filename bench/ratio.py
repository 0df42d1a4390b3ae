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
    for item in ratios:
        verdict = "for the record" if item.limit is None else f"limit {item.limit:g}"
        if item.limit is not None and item.value > item.limit:
            verdict += "  OVER"
            over = True
        print(f"{item.name:42} {item.value:7.2f}   {verdict:20} {item.detail}")
    return 1 if over else 0
