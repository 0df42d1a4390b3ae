"""Steps that wait for their turn, found without looking at all the others."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Set

from stockman.engine.context import RunContext, RunSettings, RunStopped, problem_to_json
from stockman.engine.estimates import seconds_to_end
from stockman.engine.gates import GateNotYetOpen, GateRefused
from stockman.engine.holds import Holds
from stockman.engine.journal import EntryType, JournalLost
from stockman.engine.state import RunResult, RunState, fold_entries
from stockman.engine.step_execution import StepExecution
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.plan import Plan
from stockman.steps.step import Step


class StepQueue:
    """Steps of a plan that have not begun, those first that the most waits for."""

    def __init__(self, plan: Plan, done: Set[str]) -> None:
        self._widths = plan.lanes
        seconds = seconds_to_end(plan)
        self._rank = {step.id: (-seconds[step.id], place) for place, step in enumerate(plan.steps)}
        self._missing: Counter[str] = Counter()
        """How many steps each step still waits for."""
        self._followers: dict[str, list[Step]] = {}
        self._ready: dict[tuple[str, ...], list[Step]] = {}
        """Steps that wait for nothing but their lanes, by those, in their order."""
        for step in plan.steps:
            if step.id in done:
                continue
            for need in set(step.needs) - done:
                self._missing[step.id] += 1
                self._followers.setdefault(need, []).append(step)
            if not self._missing[step.id]:
                self.put_back(step)

    def put_back(self, step: Step) -> None:
        """Let a step wait again that was taken and had no effect."""
        insort(self._ready.setdefault(step.lanes, []), step, key=self._order)

    def finished(self, step: Step) -> None:
        """Whoever waited only for this step may begin."""
        for follower in self._followers.pop(step.id, ()):
            self._missing[follower.id] -= 1
            if not self._missing[follower.id]:
                self.put_back(follower)

    def taken(self, room: int, busy: Counter[str]) -> list[Step]:
        """Steps that begin now, so many at most; their lanes are counted as busy."""
        found: list[Step] = []
        while len(found) < room:
            open_lanes = [lanes for lanes in self._ready if self._has_room(lanes, busy)]
            if not open_lanes:
                break
            lanes = min(open_lanes, key=lambda one: self._order(self._ready[one][0]))
            queue = self._ready[lanes]
            found.append(queue.pop(0))
            busy.update(lanes)
            if not queue:
                del self._ready[lanes]
        return found

    def _has_room(self, lanes: Iterable[str], busy: Counter[str]) -> bool:
        return all(busy[lane] < self._widths.get(lane, 1) for lane in lanes)

    def _order(self, step: Step) -> tuple[float, int]:
        return self._rank[step.id]


@record
class RunOutcome:
    """How a run went."""

    state: RunState
    result: RunResult
    problems: tuple[Problem, ...] = ()
    """Why it did not end well, the first cause first."""


class Executor:
    """One run of a plan, from its beginning or from where it was left."""

    def __init__(self, context: RunContext, state: RunState, settings: RunSettings) -> None:
        self._context = context
        self._state = state
        self._settings = settings
        self._holding = Holds(context, state)
        self._done = {step.id for step in context.plan.steps if state.is_done(step.id)}
        self._waiting = StepQueue(context.plan, self._done)
        self._running: set[str] = set()
        self._lanes: Counter[str] = Counter()
        self._wake = asyncio.Event()
        self._errors: list[StockmanError] = []
        self._lost: JournalLost | None = None

    async def run(self) -> RunOutcome:
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
            await StepExecution(self._context, self._holding, step, before).whole()
            await self._holding.finish(step)
        except RunStopped:
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
        self._context.halted = self._context.halted or not isinstance(no, GateNotYetOpen)
        self._errors.append(no)
        try:
            data = {"problem": problem_to_json(no.problem)}
            await self._context.journal.append(EntryType.FAILED, step.id, data)
        except JournalLost as lost:
            self._lost = lost

    async def _over(self) -> RunOutcome:
        result = self._result()
        if result is RunResult.PAUSED:
            return await self._paused(now=False)
        await self._context.journal.append(EntryType.ENDED, "", {"result": result.value})
        return self._outcome(result)

    def _result(self) -> RunResult:
        if self._errors:
            closed = all(isinstance(no, GateRefused) for no in self._errors)
            return RunResult.REFUSED if closed else RunResult.FAILED
        if self._holding.problems:
            return RunResult.FAILED
        if len(self._done) < len(self._context.plan.steps):
            return RunResult.PAUSED
        return RunResult.DONE

    async def _paused(self, *, now: bool) -> RunOutcome:
        await self._context.journal.append(EntryType.PAUSED, "", {"now": now})
        return self._outcome(RunResult.PAUSED)

    def _outcome(self, result: RunResult) -> RunOutcome:
        state = fold_entries(self._state.run, self._context.journal.entries)
        causes = [*(no.problem for no in self._errors), *self._holding.problems]
        return RunOutcome(state=state, result=result, problems=tuple(dict.fromkeys(causes)))


def _first(several: BaseExceptionGroup) -> BaseException:
    cause: BaseException = several
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    return cause
