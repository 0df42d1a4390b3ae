"""How often each system was asked for a plan: `plan --stats`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stockman.cli.output import Output, show
from stockman.cli.screen import Screen
from stockman.cli.tables import Cell, table
from stockman.planning.observed_calls import SystemCalls


def show_calls(calls: Sequence[SystemCalls], output: Output) -> None:
    """Print the calls to stdout."""
    data = {
        "systems": [
            {
                "system": one.system,
                "calls": one.calls,
                "of": dict(one.of),
                "grows": one.grows,
                "by_call": dict(one.by_call),
            }
            for one in calls
        ],
        "calls": sum(one.calls for one in calls),
    }
    show(data, kind="PlanStats", output=output, human=lambda _, on: calls_lines(calls, on))


def calls_lines(calls: Sequence[SystemCalls], screen: Screen) -> Iterator[str]:
    """A row for each system, what its number grows with, and with `-v` every kind of call."""
    rows: list[tuple[str | Cell, ...]] = []
    for one in calls:
        of = ", ".join(f"{count} {name}" for name, count in one.of.items())
        rows.append((Cell(one.system, "name"), str(one.calls), of, one.grows))
        if screen.verbosity:
            rows += [(f"  {name}", str(count)) for name, count in sorted(one.by_call.items())]
    rows.append(("all", str(sum(one.calls for one in calls))))
    headers = ("SYSTEM", "CALLS", "OF", "GROWS WITH")
    yield from table(headers, rows, width=screen.width, paint=screen.paint)
