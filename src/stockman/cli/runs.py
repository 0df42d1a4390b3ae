"""`stockman runs`: what was carried out, and what was left in the middle."""

from __future__ import annotations

from stockman.cli.group import group


@group(
    examples={
        "stockman runs list": "every run, and how it ended",
        "stockman runs show": "the newest run, step by step",
        "stockman runs resume": "go on where it stopped",
    }
)
def runs() -> None:
    """Show runs, go on with one, or give one up."""
