"""The executor: runs the steps of a plan in parallel, by needs and lanes."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Set

from stockman.engine.context import RunContext, RunSettings, RunStopped, problem_to_json
from stockman.engine.holds import Holds
from stockman.engine.journal import EntryType, JournalLost
from stockman.engine.state import RunResult, RunState, fold_entries, seconds_to_end
from stockman.engine.step_execution import GateNotYetOpen, GateRefused, StepExecution
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.plan import Plan
from stockman.steps.step import Step


class StepQueue:
    """Steps of a plan that have not started; those with the longest chain of followers first."""

    def __init__(self, plan: Plan, done: Set[str]) -> None:
        self._widths = plan.lanes
        seconds = seconds_to_end(plan)
        self._rank = {step.id: (-seconds[step.id], index) for index, step in enumerate(plan.steps)}
        self._missing: Counter[str] = Counter()
        """Number of unfinished needs of each step."""
        self._followers: dict[str, list[Step]] = {}
        self._ready: dict[tuple[str, ...], list[Step]] = {}
        """Steps whose needs are done, sorted, by their lanes."""
        for step in plan.steps:
            if step.id in done:
                continue
            for need in set(step.needs) - done:
                self._missing[step.id] += 1
                self._followers.setdefault(need, []).append(step)
            if not self._missing[step.id]:
                self.add(step)

    def add(self, step: Step) -> None:
        """Add a step whose needs are done, or one that was taken and had no effect."""
        insort(self._ready.setdefault(step.lanes, []), step, key=self._order)

    def release_followers(self, step: Step) -> None:
        """Make steps ready whose last unfinished need was this step."""
        for follower in self._followers.pop(step.id, ()):
            self._missing[follower.id] -= 1
            if not self._missing[follower.id]:
                self.add(follower)

    def take(self, count: int, busy: Counter[str]) -> list[Step]:
        """Remove and return at most `count` steps with free lanes; counts their lanes as busy."""
        steps: list[Step] = []
        while len(steps) < count:
            open_lanes = [lanes for lanes in self._ready if self._has_room(lanes, busy)]
            if not open_lanes:
                break
            lanes = min(open_lanes, key=lambda candidate: self._order(self._ready[candidate][0]))
            queue = self._ready[lanes]
            steps.append(queue.pop(0))
            busy.update(lanes)
            if not queue:
                del self._ready[lanes]
        return steps

    def _has_room(self, lanes: Iterable[str], busy: Counter[str]) -> bool:
        return all(busy[lane] < self._widths.get(lane, 1) for lane in lanes)

    def _order(self, step: Step) -> tuple[float, int]:
        return self._rank[step.id]


@record
class RunOutcome:
    """The outcome of a run."""

    state: RunState
    result: RunResult
    problems: tuple[Problem, ...] = ()
    """Why it did not succeed, first cause first."""


class Executor:
    """Executes a plan from its start, or from where the journal ends."""

    def __init__(self, context: RunContext, state: RunState, settings: RunSettings) -> None:
        self._context = context
        self._state = state
        self._settings = settings
        self._holds = Holds(context, state)
        self._done = {step.id for step in context.plan.steps if state.is_done(step.id)}
        self._queue = StepQueue(context.plan, self._done)
        self._running: set[str] = set()
        self._lanes: Counter[str] = Counter()
        self._wake = asyncio.Event()
        self._errors: list[StockmanError] = []
        self._journal_error: JournalLost | None = None

    async def run(self) -> RunOutcome:
        """Execute all steps that can be executed; returns when no step is running."""
        own = asyncio.current_task()
        if own is not None:
            self._context.stop.on_immediate.append(own.cancel)
        try:
            await self._run_steps()
        except asyncio.CancelledError:
            if own is None or not self._context.stop.is_immediate:
                raise
            own.uncancel()
            return await self._pause(now=True)
        except BaseExceptionGroup as group:
            raise _first_exception(group) from None
        return await self._finish()

    async def _run_steps(self) -> None:
        await self._holds.release_unused()
        async with asyncio.TaskGroup() as group:
            while True:
                for step in self._take_ready_steps():
                    self._running.add(step.id)
                    group.create_task(self._execute_step(step))
                if not self._running:
                    break
                self._wake.clear()
                await self._wake.wait()
        if self._journal_error is not None:
            raise self._journal_error
        await self._holds.release_all()

    def _take_ready_steps(self) -> list[Step]:
        """Return the steps that start now; their lanes are counted as busy."""
        if self._context.halted or self._context.stop.is_requested:
            return []
        return self._queue.take(self._settings.max_parallel - len(self._running), self._lanes)

    async def _execute_step(self, step: Step) -> None:
        before = self._state.step(step.id)
        try:
            await StepExecution(self._context, self._holds, step, before).execute()
            await self._holds.finish(step)
        except RunStopped:
            self._queue.add(step)
        except JournalLost as error:
            self._journal_error = error
            self._context.halted = True
        except StockmanError as error:
            await self._record_failure(step, error)
        else:
            self._done.add(step.id)
            self._queue.release_followers(step)
            self._context.halted = self._context.halted or bool(self._holds.problems)
        finally:
            self._running.discard(step.id)
            self._lanes.subtract(step.lanes)
            self._wake.set()

    async def _record_failure(self, step: Step, error: StockmanError) -> None:
        # A step that waits for a maintenance window does not stop other steps.
        self._context.halted = self._context.halted or not isinstance(error, GateNotYetOpen)
        self._errors.append(error)
        try:
            data = {"problem": problem_to_json(error.problem)}
            await self._context.journal.append(EntryType.FAILED, step.id, data)
        except JournalLost as lost:
            self._journal_error = lost

    async def _finish(self) -> RunOutcome:
        result = self._result()
        if result is RunResult.PAUSED:
            return await self._pause(now=False)
        await self._context.journal.append(EntryType.ENDED, "", {"result": result.value})
        return self._outcome(result)

    def _result(self) -> RunResult:
        if self._errors:
            refused = all(isinstance(error, GateRefused) for error in self._errors)
            return RunResult.REFUSED if refused else RunResult.FAILED
        if self._holds.problems:
            return RunResult.FAILED
        if len(self._done) < len(self._context.plan.steps):
            return RunResult.PAUSED
        return RunResult.DONE

    async def _pause(self, *, now: bool) -> RunOutcome:
        await self._context.journal.append(EntryType.PAUSED, "", {"now": now})
        return self._outcome(RunResult.PAUSED)

    def _outcome(self, result: RunResult) -> RunOutcome:
        state = fold_entries(self._state.run, self._context.journal.entries)
        causes = [*(error.problem for error in self._errors), *self._holds.problems]
        return RunOutcome(state=state, result=result, problems=tuple(dict.fromkeys(causes)))


def _first_exception(group: BaseExceptionGroup) -> BaseException:
    cause: BaseException = group
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    return cause
