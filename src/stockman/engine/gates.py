"""What is recent enough to act upon: looks and gates of the same step."""

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
"""Older answers are asked for again before anything is done."""


class RecentReads(ReadCache):
    """Keeps what one step saw, for whoever asks first and soon."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[datetime, object]] = {}

    def keep(self, what: str, seen: object) -> None:
        self._seen[what] = (self._clock.now(), seen)

    def taken(self, what: str) -> object | None:
        at, seen = self._seen.pop(what, (None, None))
        return seen if at is not None and is_recent(at, self._clock) else None


def is_recent(at: datetime, clock: Clock) -> bool:
    """Whether a moment is a short while ago; one that a clock set back makes later is not."""
    return timedelta() <= clock.now() - at < RECENT_SECONDS


_FIRST_WAIT = 1.0
_LONGEST_WAIT = 10.0
_JOURNAL_INTERVAL = timedelta(seconds=30)
"""How often the same gate may say in the journal that it is closed."""


class GateRefused(Refused):
    """A gate says that waiting cannot help."""


class GateNotYetOpen(GateRefused):
    """A gate says that its time has not come; nothing is wrong."""


class GateChecks:
    """Asks the gates of one step until all of them are open in one go."""

    def __init__(self, context: RunContext, step: Step) -> None:
        self._context = context
        self._step = step
        self._said: dict[str, tuple[GateAnswer, datetime]] = {}
        self._asked: list[asyncio.Future[Verdict]] = []
        """Answers on their way. Empty: nobody is asked."""
        self._asked_at = context.ports.clock.now()
        self.last = ""
        """What the last gate said that was not open. Empty: all were."""

    def ask(self) -> None:
        """Ask all gates at once; what they say is heard by `passed`, unless it is old by then."""
        ports = self._context.ports
        self._asked_at = ports.clock.now()
        self._asked = [asyncio.ensure_future(gate.check(ports)) for gate in self._step.gates]

    async def leave(self) -> None:
        """Wait for no answer any more."""
        asked, self._asked = self._asked, []
        for one in asked:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    async def passed(self, until: datetime) -> bool:
        """Return once all gates are open; whether any had to be waited for.

        `GateClosed` where one says so, `TimeoutError` after the moment given.
        """
        wait = _FIRST_WAIT
        waited = False
        while not await self._all_open():
            waited = True
            if self._context.ports.clock.now() + timedelta(seconds=wait) > until:
                raise TimeoutError
            await self._context.nap(wait)
            wait = min(wait * 1.5, _LONGEST_WAIT)
        return waited

    async def _all_open(self) -> bool:
        """Hear all gates in their order."""
        if not self._asked or not is_recent(self._asked_at, self._context.ports.clock):
            await self.leave()
            self.ask()
        told: list[tuple[Gate, Verdict]] = []
        try:
            for gate, verdict in zip(self._step.gates, self._asked, strict=True):
                told.append((gate, await verdict))
                if told[-1][1].answer is not GateAnswer.GO:
                    break
        finally:
            await self.leave()
        await asyncio.gather(*(self._tell(*one) for one in told))
        return all(self._is_open(*one) for one in told)

    def _is_open(self, gate: Gate, verdict: Verdict) -> bool:
        self.last = "" if verdict.answer is GateAnswer.GO else f"{gate.summary}: {verdict.because}"
        if verdict.answer is GateAnswer.STOP:
            raise self._closed(gate, verdict)
        return verdict.answer is GateAnswer.GO

    def _closed(self, gate: Gate, verdict: Verdict) -> GateRefused:
        step, because, fix = self._step.id, verdict.because, verdict.fix
        if gate.opens_later:
            return GateNotYetOpen(
                problems.gate_not_yet_open(step, self._step.action.summary, because, fix)
            )
        return GateRefused(problems.gate_refusal(step, gate.summary, because, fix))

    async def _tell(self, gate: Gate, verdict: Verdict) -> None:
        now = self._context.ports.clock.now()
        answer, at = self._said.get(gate.part_key, (None, now))
        if answer is verdict.answer and now - at < _JOURNAL_INTERVAL:
            return
        self._said[gate.part_key] = (verdict.answer, now)
        journal, said = self._context.journal, verdict.answer
        data = {"gate": gate.summary, "answer": said.value, "because": verdict.because}
        if said is GateAnswer.GO:
            # It is written with what follows from it.
            journal.add(EntryType.GATE, self._step.id, data)
        else:
            await journal.append(EntryType.GATE, self._step.id, data)
