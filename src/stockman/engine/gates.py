"""Gates of a step, and its cache of recent reads."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from stockman.engine import problems
from stockman.engine.context import RunContext
from stockman.engine.journal import EntryType
from stockman.model.errors import Refused
from stockman.ports.system import Clock
from stockman.steps.base import Gate, GateAnswer, Verdict
from stockman.steps.ports import ReadCache
from stockman.steps.step import Step

RECENT_SECONDS = timedelta(seconds=1)
"""Answers older than this are requested again before a step has an effect."""


class RecentReads(ReadCache):
    """Keeps values that one step has read, for one use within `RECENT_SECONDS`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._values: dict[str, tuple[datetime, object]] = {}

    def store(self, key: str, value: object) -> None:
        self._values[key] = (self._clock.now(), value)

    def take(self, key: str) -> object | None:
        at, value = self._values.pop(key, (None, None))
        return value if at is not None and is_recent(at, self._clock) else None


def is_recent(at: datetime, clock: Clock) -> bool:
    """Return whether a time is less than `RECENT_SECONDS` ago, and not in the future."""
    return timedelta() <= clock.now() - at < RECENT_SECONDS


_FIRST_WAIT = 1.0
_LONGEST_WAIT = 10.0
_JOURNAL_INTERVAL = timedelta(seconds=30)
"""Minimum time between two journal entries with the same answer of a gate."""


class GateRefused(Refused):
    """A gate is closed, and waiting does not open it."""


class GateNotYetOpen(GateRefused):
    """A gate opens at a later time; nothing is wrong."""


class GateChecks:
    """Checks the gates of one step until all of them are open at the same time."""

    def __init__(self, context: RunContext, step: Step) -> None:
        self._context = context
        self._step = step
        self._recorded: dict[str, tuple[GateAnswer, datetime]] = {}
        self._verdicts: list[asyncio.Future[Verdict]] = []
        """Checks in progress, in the order of the gates. Empty: none."""
        self._started_at = context.ports.clock.now()
        self.closed_gate = ""
        """The last closed gate and its reason. Empty: all gates were open."""

    def start(self) -> None:
        """Start the checks of all gates; `wait_until_open` uses their answers if still recent."""
        ports = self._context.ports
        self._started_at = ports.clock.now()
        self._verdicts = [asyncio.ensure_future(gate.check(ports)) for gate in self._step.gates]

    async def cancel(self) -> None:
        """Cancel the checks in progress."""
        verdicts, self._verdicts = self._verdicts, []
        for verdict in verdicts:
            verdict.cancel()
        await asyncio.gather(*verdicts, return_exceptions=True)

    async def wait_until_open(self, deadline: datetime) -> bool:
        """Wait until all gates are open; returns whether any of them was closed before.

        Raises `GateRefused` if a gate answers STOP, and `TimeoutError` after the deadline.
        """
        wait = _FIRST_WAIT
        waited = False
        while not await self._all_open():
            waited = True
            if self._context.ports.clock.now() + timedelta(seconds=wait) > deadline:
                raise TimeoutError
            await self._context.sleep(wait)
            wait = min(wait * 1.5, _LONGEST_WAIT)
        return waited

    async def _all_open(self) -> bool:
        """Return whether all gates are open; evaluates them in order."""
        if not self._verdicts or not is_recent(self._started_at, self._context.ports.clock):
            await self.cancel()
            self.start()
        answers: list[tuple[Gate, Verdict]] = []
        try:
            for gate, future in zip(self._step.gates, self._verdicts, strict=True):
                answers.append((gate, await future))
                if answers[-1][1].answer is not GateAnswer.GO:
                    break
        finally:
            await self.cancel()
        await asyncio.gather(*(self._record_verdict(*answer) for answer in answers))
        return all(self._is_open(*answer) for answer in answers)

    def _is_open(self, gate: Gate, verdict: Verdict) -> bool:
        self.closed_gate = (
            "" if verdict.answer is GateAnswer.GO else f"{gate.summary}: {verdict.because}"
        )
        if verdict.answer is GateAnswer.STOP:
            raise self._refusal(gate, verdict)
        return verdict.answer is GateAnswer.GO

    def _refusal(self, gate: Gate, verdict: Verdict) -> GateRefused:
        step, because, fix = self._step.id, verdict.because, verdict.fix
        if gate.opens_later:
            return GateNotYetOpen(
                problems.gate_not_yet_open(step, self._step.action.summary, because, fix)
            )
        return GateRefused(problems.gate_refusal(step, gate.summary, because, fix))

    async def _record_verdict(self, gate: Gate, verdict: Verdict) -> None:
        now = self._context.ports.clock.now()
        previous, at = self._recorded.get(gate.part_key, (None, now))
        if previous is verdict.answer and now - at < _JOURNAL_INTERVAL:
            return
        self._recorded[gate.part_key] = (verdict.answer, now)
        journal, answer = self._context.journal, verdict.answer
        data = {"gate": gate.summary, "answer": answer.value, "because": verdict.because}
        if answer is GateAnswer.GO:
            # It is written together with the next entry of the step.
            journal.add(EntryType.GATE, self._step.id, data)
        else:
            await journal.append(EntryType.GATE, self._step.id, data)
