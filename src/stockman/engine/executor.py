"""The executor: carries out the steps of a plan, as many side by side as may be.

A step begins when everything it needs is done and its lanes are free, those first that the most
waits for. When one fails nothing new begins; what has begun is finished, and what was taken is
given back. A step whose time has not come is left, with all that need it, and the rest is done.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from stockman.engine.context import Context, Settings, problem_data
from stockman.engine.entry import Event
from stockman.engine.gating import GateClosed, TooEarly
from stockman.engine.holding import Holding
from stockman.engine.journal import JournalLost
from stockman.engine.performing import Performance
from stockman.engine.state import Result, RunState, folded
from stockman.engine.stop import Stopped
from stockman.engine.waiting import Waiting
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.step import Step


@record
class Outcome:
    """How a run went."""

    state: RunState
    result: Result
    problems: tuple[Problem, ...] = ()
    """Why it did not end well, the first cause first."""


class Executor:
    """One run of a plan, from its beginning or from where it was left."""

    def __init__(self, context: Context, state: RunState, settings: Settings) -> None:
        self._context = context
        self._state = state
        self._settings = settings
        self._holding = Holding(context, state)
        self._done = {step.id for step in context.plan.steps if state.is_done(step.id)}
        self._waiting = Waiting(context.plan, self._done)
        self._running: set[str] = set()
        self._lanes: Counter[str] = Counter()
        self._wake = asyncio.Event()
        self._errors: list[StockmanError] = []
        self._lost: JournalLost | None = None

    async def run(self) -> Outcome:
        """Do everything that can be done; returns when nothing is under way any more."""
        own = asyncio.current_task()
        if own is not None:
            self._context.stop.when_now.append(own.cancel)
        try:
            await self._carried_out()
        except asyncio.CancelledError:
            if own is None or not self._context.stop.is_now:
                raise
            own.uncancel()
            return await self._paused(now=True)
        except BaseExceptionGroup as several:
            raise _first(several) from None
        return await self._over()

    async def _carried_out(self) -> None:
        await self._holding.give_back_unneeded()
        async with asyncio.TaskGroup() as group:
            while True:
                for step in self._ready():
                    self._running.add(step.id)
                    group.create_task(self._perform(step))
                if not self._running:
                    break
                self._wake.clear()
                await self._wake.wait()
        if self._lost is not None:
            raise self._lost
        await self._holding.give_back_all()

    def _ready(self) -> list[Step]:
        """Steps that can begin right now, with their lanes counted as busy."""
        if self._context.halted or self._context.stop.is_asked:
            return []
        return self._waiting.taken(self._settings.max_parallel - len(self._running), self._lanes)

    async def _perform(self, step: Step) -> None:
        before = self._state.step(step.id)
        try:
            await Performance(self._context, self._holding, step, before).whole()
            await self._holding.finish(step)
        except Stopped:
            self._waiting.put_back(step)
        except JournalLost as no:
            self._lost = no
            self._context.halted = True
        except StockmanError as no:
            await self._failed(step, no)
        else:
            self._done.add(step.id)
            self._waiting.finished(step)
            self._context.halted = self._context.halted or bool(self._holding.problems)
        finally:
            self._running.discard(step.id)
            self._lanes.subtract(step.lanes)
            self._wake.set()

    async def _failed(self, step: Step, no: StockmanError) -> None:
        # Whoever waits for a time does not keep others from their work.
        self._context.halted = self._context.halted or not isinstance(no, TooEarly)
        self._errors.append(no)
        try:
            data = {"problem": problem_data(no.problem)}
            await self._context.journal.append(Event.FAILED, step.id, data)
        except JournalLost as lost:
            self._lost = lost

    async def _over(self) -> Outcome:
        result = self._result()
        if result is Result.PAUSED:
            return await self._paused(now=False)
        await self._context.journal.append(Event.ENDED, "", {"result": result.value})
        return self._outcome(result)

    def _result(self) -> Result:
        if self._errors:
            closed = all(isinstance(no, GateClosed) for no in self._errors)
            return Result.REFUSED if closed else Result.FAILED
        if self._holding.problems:
            return Result.FAILED
        if len(self._done) < len(self._context.plan.steps):
            return Result.PAUSED
        return Result.DONE

    async def _paused(self, *, now: bool) -> Outcome:
        await self._context.journal.append(Event.PAUSED, "", {"now": now})
        return self._outcome(Result.PAUSED)

    def _outcome(self, result: Result) -> Outcome:
        state = folded(self._state.run, self._context.journal.entries)
        causes = [*(no.problem for no in self._errors), *self._holding.problems]
        return Outcome(state=state, result=result, problems=tuple(dict.fromkeys(causes)))


def _first(several: BaseExceptionGroup) -> BaseException:
    cause: BaseException = several
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    return cause
