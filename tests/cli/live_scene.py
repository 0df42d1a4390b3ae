"""A run of toys, as a live view sees it: in simulated time, on a screen of choice."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from stockman.cli.live.view import LivePlan, live_view
from stockman.cli.output import Output
from stockman.cli.terminal.screen import Screen
from stockman.engine.context import StopRequest
from stockman.engine.journal import EntryType, JournalEntry, Watcher
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


def entry(after: float, event: EntryType, step: str = "", **data: object) -> JournalEntry:
    """Something that happened so many seconds after the morning."""
    at = MORNING + timedelta(seconds=after)
    return JournalEntry(number=1, at=at, event=event, step=step, data=data)


def waits(after: float, because: str = "0 of 1", answer: str = "wait") -> JournalEntry:
    """A gate before the third step, asked."""
    by_name = {"gate": "etcd is there", "answer": answer, "because": because}
    return entry(after, EntryType.GATE, "talos/configure/cp-1", **by_name)


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
        self,
        plan: Plan = PLAN,
        stop: StopRequest | None = None,
        before: tuple[JournalEntry, ...] = (),
    ) -> AsyncIterator[tuple[Watcher, LoopClock]]:
        clock = LoopClock()
        watched = LivePlan(plan=plan, stop=stop, before=before)
        async with live_view(watched, clock, Output.TABLE, self.screen) as watcher:
            yield watcher, clock
