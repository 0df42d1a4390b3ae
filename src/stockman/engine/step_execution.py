"""The execution of one step: gates, check, act, check again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

from stockman.engine import problems
from stockman.engine.context import RunContext, problem_to_json, retry_delay
from stockman.engine.holds import Holds
from stockman.engine.journal import EntryType
from stockman.engine.state import StepState
from stockman.model.errors import Refused, StockmanError, Uncertain, Unreachable
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


_FINAL_CHECK_SECONDS = 30.0
"""Seconds for the check after the deadline."""


class StepExecution:
    """Executes one step."""

    def __init__(self, context: RunContext, holds: Holds, step: Step, before: StepState) -> None:
        self._context = context
        self._holds = holds
        self._step = step
        self._started = before.attempts > 0
        self._ports = replace(context.ports, read_cache=RecentReads(context.ports.clock))
        self._gates = GateChecks(context, step)
        self._last_failure = ""
        """Error of the last attempt that was retried. Empty: none."""
        self._recorded_error: Uncertain | None = None
        """An error with an unknown outcome that is already in the journal. None: none."""
        self._deadline: datetime = context.ports.clock.now() + timedelta(seconds=step.deadline)

    async def execute(self) -> None:
        """Execute the step and record its end in the journal.

        Raises `RunStopped` if the run stops before the step has an effect, and a `StockmanError`
        if the step fails.
        """
        try:
            async with asyncio.timeout(self._step.deadline):
                await self._run_attempts()
        except TimeoutError:
            await self._handle_timeout()

    async def _run_attempts(self) -> None:
        attempt = 1
        while not await self._try_attempt(attempt):
            attempt += 1

    async def _try_attempt(self, attempt: int) -> bool:
        """Run one attempt; returns False if it failed and another one follows."""
        try:
            await self._run_attempt(attempt)
        except (Unreachable, Uncertain) as error:
            if attempt >= self._step.retry.attempts:
                raise
            self._last_failure = f"{error.problem.what}: {error.problem.why}"
            entropy = self._context.ports.entropy
            wait = retry_delay(attempt, self._step.retry, entropy, error)
            if error is not self._recorded_error:
                data = {"problem": problem_to_json(error.problem), "wait": round(wait, 1)}
                await self._context.journal.append(EntryType.RETRIED, self._step.id, data)
            await self._wait(wait)
            return False
        return True

    async def _run_attempt(self, attempt: int) -> None:
        """Check the action and its gates at the same time; run it if it is not done."""
        self._context.raise_if_stopping()
        self._gates.start()
        try:
            is_done = await self._prepare()
        finally:
            await self._gates.cancel()
        if not is_done:
            await self._act(attempt)
            if not await self._is_done():
                raise Refused(
                    problems.step_without_effect(self._step.id, self._step.action.summary)
                )
        await self._record_finish()

    async def _prepare(self) -> bool:
        """Return whether the action is done; if not, the gates are open and the holds taken."""
        context, step = self._context, self._step
        if not step.action.always_gated and await self._is_done():
            return True
        waited = await self._gates.wait_until_open(self._deadline)
        await context.fence.check()
        await self._holds.take(step)
        context.raise_if_stopping()
        is_old = waited or bool(step.holds) or step.action.always_gated
        return is_old and await self._is_done()

    async def _is_done(self) -> bool:
        return await self._step.action.done(self._ports)

    async def _act(self, attempt: int) -> None:
        context, step = self._context, self._step
        await context.fence.check()
        data = {"attempt": attempt, "token": context.fence.token}
        await context.journal.append(EntryType.STARTED, step.id, data)
        self._started = True
        try:
            await step.action.run(self._ports)
        except Uncertain as error:
            failure = {"problem": problem_to_json(error.problem)}
            await context.journal.append(EntryType.UNKNOWN, step.id, failure)
            self._recorded_error = error
            raise

    async def _record_finish(self) -> None:
        data = {} if self._started else {"already": True}
        await self._context.journal.append(EntryType.FINISHED, self._step.id, data)

    async def _wait(self, seconds: float) -> None:
        if self._context.ports.clock.now() + timedelta(seconds=seconds) > self._deadline:
            raise TimeoutError
        await self._context.sleep(seconds)

    async def _handle_timeout(self) -> None:
        """Check once more whether a started action is done; raises `Refused` if not."""
        step = self._step
        reason = self._gates.closed_gate or "the action was started and is not done"
        if self._last_failure and not self._gates.closed_gate:
            reason = f"{reason}; the last attempt failed: {self._last_failure}"
        if self._started:
            try:
                async with asyncio.timeout(_FINAL_CHECK_SECONDS):
                    if await self._is_done():
                        await self._record_finish()
                        return
            except TimeoutError:
                reason = "the action was started, and the final check got no reply"
            except StockmanError as error:
                reason = f"the action was started, and the final check failed: {error.problem.what}"
        raise Refused(problems.step_timeout(step.id, step.deadline, reason))
