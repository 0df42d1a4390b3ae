"""A run of toys, as a live view sees it: in simulated time, on a screen of choice."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from stockman.cli.live_forms import LivePlan
from stockman.cli.live_view import live_view
from stockman.cli.output import Output
from stockman.cli.screen import Screen
from stockman.engine.entry import Entry, Event
from stockman.engine.journal import Watcher
from stockman.engine.stop import Stop
from stockman.steps.plan import Plan
from tests.cli.shown_terminal import ShownTerminal
from tests.engine.simulated import MORNING, LoopClock
from tests.engine.toys import Exists, make, plan_of

PLAN = plan_of(
    make("vms/create/cp-1", seconds=60.0),
    make("vms/create/cp-2", seconds=60.0),
    make("talos/configure/cp-1", "vms/create/cp-1", seconds=120.0, gates=(Exists(key="etcd"),)),
)
PROBLEM = {"code": "vm.identity", "what": "VM 1030 is no longer cp-1", "why": "x", "fix": "y"}
HELD = {"key": "k", "hold": {"kind": "test.flag", "name": "red"}, "prior": "up"}


def entry(after: float, event: Event, step: str = "", **data: object) -> Entry:
    """Something that happened so many seconds after the morning."""
    at = MORNING + timedelta(seconds=after)
    return Entry(number=1, at=at, event=event, step=step, data=data)


def waits(after: float, because: str = "0 of 1", answer: str = "wait") -> Entry:
    """A gate before the third step, asked."""
    said = {"gate": "etcd is there", "answer": answer, "because": because}
    return entry(after, Event.GATE, "talos/configure/cp-1", **said)


class OnTerminal:
    """A screen whose notes are on a terminal."""

    def __init__(self, columns: int = 80, rows: int = 24, **environment: str) -> None:
        self.terminal = ShownTerminal(columns)
        self.out = io.StringIO()
        self.environment = {"TERM": "xterm", "LINES": str(rows), **environment}
        self.resize(columns)
        self.screen = Screen(None, self.out, self.terminal, self.environment)

    def resize(self, columns: int) -> None:
        self.terminal.narrow(columns)
        self.environment["COLUMNS"] = str(columns)

    @asynccontextmanager
    async def watching(
        self, plan: Plan = PLAN, stop: Stop | None = None, before: tuple[Entry, ...] = ()
    ) -> AsyncIterator[tuple[Watcher, LoopClock]]:
        clock = LoopClock()
        watched = LivePlan(plan=plan, stop=stop, before=before)
        async with live_view(watched, clock, Output.TABLE, self.screen) as watcher:
            yield watcher, clock
