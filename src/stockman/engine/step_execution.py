"""How one step is carried out: look, act, look again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

from stockman.engine import problems
from stockman.engine.context import RunContext, problem_to_json, retry_delay
from stockman.engine.gates import GateChecks, RecentReads
from stockman.engine.holds import Holds
from stockman.engine.journal import EntryType
from stockman.engine.state import StepState
from stockman.model.errors import Refused, StockmanError, Uncertain, Unreachable
from stockman.steps.step import Step

_FINAL_CHECK_SECONDS = 30.0
"""Seconds for the look after a deadline."""


class StepExecution:
    """One step on its way."""

    def __init__(self, context: RunContext, holding: Holds, step: Step, before: StepState) -> None:
        self._context = context
        self._holding = holding
        self._step = step
        self._begun = before.attempts > 0
        self._ports = replace(context.ports, looks=RecentReads(context.ports.clock))
        self._gates = GateChecks(context, step)
        self._trouble = ""
        """What the last attempt that is worth another ended with. Empty: there was none."""
        self._unsure: Uncertain | None = None
        """What the journal was told already of an effect that nobody is sure of."""
        self._until: datetime = context.ports.clock.now() + timedelta(seconds=step.deadline)

    async def whole(self) -> None:
        """Return once the step is true and written down as finished.

        `Stopped` where the run is to stop before it had an effect; a `StockmanError` where it
        failed.
        """
        try:
            async with asyncio.timeout(self._step.deadline):
                await self._attempts()
        except TimeoutError:
            await self._late()

    async def _attempts(self) -> None:
        attempt = 1
        while not await self._tried(attempt):
            attempt += 1

    async def _tried(self, attempt: int) -> bool:
        """One attempt; False where it is worth another."""
        try:
            await self._once(attempt)
        except (Unreachable, Uncertain) as no:
            if attempt >= self._step.retry.attempts:
                raise
            self._trouble = f"{no.problem.what}: {no.problem.why}"
            entropy = self._context.ports.entropy
            wait = retry_delay(attempt, self._step.retry, entropy, no)
            if no is not self._unsure:
                said = {"problem": problem_to_json(no.problem), "wait": round(wait, 1)}
                await self._context.journal.append(EntryType.RETRIED, self._step.id, said)
            await self._wait(wait)
            return False
        return True

    async def _once(self, attempt: int) -> None:
        """Look and ask the gates at once; act where the one says no and the others yes."""
        self._context.raise_if_stopping()
        self._gates.ask()
        try:
            is_done = await self._reached()
        finally:
            await self._gates.leave()
        if not is_done:
            await self._act(attempt)
            if not await self._done():
                raise Refused(
                    problems.step_without_effect(self._step.id, self._step.action.summary)
                )
        await self._finished()

    async def _reached(self) -> bool:
        """Whether nothing has to be done; returns with the gates open and the holds taken."""
        context, step = self._context, self._step
        if not step.action.always_gated and await self._done():
            return True
        waited = await self._gates.passed(self._until)
        await context.fence.check()
        await self._holding.take(step)
        context.raise_if_stopping()
        is_old = waited or bool(step.holds) or step.action.always_gated
        return is_old and await self._done()

    async def _done(self) -> bool:
        return await self._step.action.done(self._ports)

    async def _act(self, attempt: int) -> None:
        context, step = self._context, self._step
        await context.fence.check()
        said = {"attempt": attempt, "token": context.fence.token}
        await context.journal.append(EntryType.STARTED, step.id, said)
        self._begun = True
        try:
            await step.action.run(self._ports)
        except Uncertain as no:
            said_of = {"problem": problem_to_json(no.problem)}
            await context.journal.append(EntryType.UNKNOWN, step.id, said_of)
            self._unsure = no
            raise

    async def _finished(self) -> None:
        data = {} if self._begun else {"already": True}
        await self._context.journal.append(EntryType.FINISHED, self._step.id, data)

    async def _wait(self, seconds: float) -> None:
        if self._context.ports.clock.now() + timedelta(seconds=seconds) > self._until:
            raise TimeoutError
        await self._context.nap(seconds)

    async def _late(self) -> None:
        """Look once more: what was begun may be true by now."""
        step = self._step
        waited = self._gates.last or "it was begun, and is not done"
        if self._trouble and not self._gates.last:
            waited = f"{waited}; attempt after attempt ended with: {self._trouble}"
        if self._begun:
            try:
                async with asyncio.timeout(_FINAL_CHECK_SECONDS):
                    if await self._done():
                        await self._finished()
                        return
            except TimeoutError:
                waited = "it was begun, and nobody answers whether it is done"
            except StockmanError as no:
                waited = f"it was begun, and a look says: {no.problem.what}"
        raise Refused(problems.step_timeout(step.id, step.deadline, waited))
