"""The beginning of a run on the screen: its plan, or why there is no run.

For programs everything is lines of JSON from here on, see `plan_events.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from stockman.cli.output import Output
from stockman.cli.screen import current
from stockman.model.errors import StockmanError

if TYPE_CHECKING:
    from stockman.cli.plan_data import PlanView
    from stockman.planning.planned import Planned
    from stockman.ports.clock import Clock


def show_start(view: PlanView, at: datetime, output: Output) -> None:
    """Print what is going to be carried out, with its warnings."""
    if output is Output.JSON:
        from stockman.cli.plan_events import plan_events

        _print(plan_events(view, at))
        return
    from stockman.cli.plan_view import show_plan

    show_plan(view, output)


def show_unfit(found: Planned, at: datetime, output: Output) -> None:
    """Print why nothing is carried out."""
    from stockman.cli.plan_view import show_refused

    if output is Output.JSON:
        from stockman.cli.plan_events import problem_events

        _print(problem_events(found.problems, at))
    show_refused(found.plan, found.problems, Output.TABLE if output is Output.JSON else output)


@contextmanager
def problems_as_lines(output: Output, clock: Clock) -> Iterator[None]:
    """Programs that read lines get what stopped a command as the last of them."""
    try:
        yield
    except StockmanError as error:
        if output is Output.JSON:
            from stockman.cli.plan_events import problem_events

            _print(problem_events([error.problem], clock.now()))
        raise


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        current().data(line)
