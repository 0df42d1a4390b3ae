"""How far a run is while it goes on: counts, what is under way, and what each step says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from stockman.engine.estimates import seconds_left
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.state import RunState, RunStateFold, StepProgress, TakenHold
from stockman.model.record import record
from stockman.steps.plan import Plan
from stockman.steps.step import Stage

_SECOND = timedelta(seconds=1)


@record
class RunningStep:
    """A step that is under way."""

    step: str
    what: str
    """What it does, in the words of its action."""
    since: datetime
    """When the first was heard of it."""
    says: str = ""
    """What it waits for or is unsure of. Empty: it works."""


@record
class Counts:
    """How many steps came to what; each step counts once."""

    steps: int
    done: int
    """Made true by the run."""
    already: int
    """Found true."""
    failed: int

    @property
    def finished(self) -> int:
        return self.done + self.already


class LiveProgress:
    """A plan and the entries of its journal, as they come.

    What a frame shows is kept up to date with each entry, so that a large plan is not walked
    through for every frame.
    """

    def __init__(self, plan: Plan, before: Iterable[JournalEntry] = ()) -> None:
        self.plan = plan
        self._steps = {step.id: step for step in plan.steps}
        self._total = Counter(step.stage for step in plan.steps)
        self._fold = RunStateFold("", before)
        so_far = self._fold.state
        self._finished = {step.id for step in plan.steps if so_far.is_done(step.id)}
        self._done = Counter(self._steps[one].stage for one in self._finished)
        self._doing: dict[str, RunningStep] = {}
        self._left: tuple[datetime, float] | None = None
        """What was last estimated, and when."""
        self.failed = 0
        """How many steps failed since somebody watches."""

    def add(self, entry: JournalEntry) -> None:
        """Take in what happened."""
        self._fold.add(entry)
        if not entry.step:
            return
        if entry.event is EntryType.FINISHED:
            self._finish(entry.step)
        elif entry.event is EntryType.FAILED:
            self.failed += 1
            self._doing.pop(entry.step, None)
        else:
            known = self._doing.get(entry.step) or self._begun(entry)
            self._doing[entry.step] = replace(known, says=_message(entry))

    def left(self, now: datetime) -> float:
        """Seconds until the run is over, by estimates that are made once a second."""
        if self._left is None or not timedelta() <= now - self._left[0] < _SECOND:
            self._left = now, seconds_left(self.plan, self._fold.state, now)
        return self._left[1]

    @property
    def held(self) -> Mapping[str, TakenHold]:
        """What is taken and not given back, by key."""
        return self._fold.held

    @property
    def finished(self) -> int:
        """How many steps are true."""
        return len(self._finished)

    @property
    def stages(self) -> dict[str, tuple[int, int]]:
        """Finished and all steps of each stage of the plan, in their order."""
        total = self._total
        return {one.value: (self._done[one], total[one]) for one in Stage if total[one]}

    @property
    def doing(self) -> tuple[RunningStep, ...]:
        """What is under way, the longest first."""
        return tuple(sorted(self._doing.values(), key=lambda one: one.since))

    def since(self, step: str) -> datetime | None:
        """When the first was heard of a step that is under way. None: it is not."""
        found = self._doing.get(step)
        return None if found is None else found.since

    def what(self, step: str) -> str:
        """What a step does; its id where the plan does not know it."""
        found = self._steps.get(step)
        return step if found is None else found.action.summary

    def _begun(self, entry: JournalEntry) -> RunningStep:
        return RunningStep(step=entry.step, what=self.what(entry.step), since=entry.at)

    def _finish(self, step: str) -> None:
        self._doing.pop(step, None)
        if step in self._steps and step not in self._finished:
            self._finished.add(step)
            self._done[self._steps[step].stage] += 1


def count_results(plan: Plan, state: RunState) -> Counts:
    """How many steps of a plan came to what."""
    found = [state.step(step.id) for step in plan.steps]
    finished = [one for one in found if one.progress is StepProgress.DONE]
    already = sum(one.already for one in finished)
    return Counts(
        steps=len(found),
        done=len(finished) - already,
        already=already,
        failed=sum(one.progress is StepProgress.FAILED for one in found),
    )


def _message(entry: JournalEntry) -> str:
    match entry.event:
        case EntryType.GATE if entry.text("answer") != "go":
            return f"waits: {entry.text('gate')}: {entry.text('because')}"
        case EntryType.STARTED if attempt_of(entry) > 1:
            return f"attempt {attempt_of(entry)}"
        case EntryType.RETRIED:
            return f"tries again: {_entry_text(entry)}"
        case EntryType.UNKNOWN:
            return "nobody knows whether it was done; it is looked at"
    return ""


def _entry_text(entry: JournalEntry) -> str:
    problem = entry.data.get("problem")
    return str(problem.get("what", "")) if isinstance(problem, dict) else ""


def attempt_of(entry: JournalEntry) -> int:
    """Which attempt a `started` entry begins."""
    found = entry.data.get("attempt")
    return found if isinstance(found, int) else 1
