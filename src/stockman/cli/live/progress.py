"""Progress of a run: counts, running steps and log lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from stockman.cli.terminal.styles import escape_control, format_duration
from stockman.cli.terminal.tables import Cell
from stockman.engine.holds import hold_summary
from stockman.engine.journal import EntryType, JournalEntry
from stockman.engine.state import (
    RunState,
    RunStateFold,
    StepProgress,
    TakenHold,
    parse_hold_entry,
    seconds_left,
)
from stockman.model.record import record
from stockman.steps.plan import Plan
from stockman.steps.step import Stage

_SECOND = timedelta(seconds=1)


@record
class RunningStep:
    """A step that is running."""

    step: str
    what: str
    """Its node, and the summary of its action."""
    since: datetime
    """Time of its first journal entry."""
    says: str = ""
    """What it waits for. Empty: it is executing."""


@record
class Counts:
    """Number of steps by result; each step counts once."""

    steps: int
    done: int
    """Steps executed by the run."""
    already: int
    """Steps that needed no change."""
    failed: int

    @property
    def finished(self) -> int:
        return self.done + self.already


class LiveProgress:
    """A plan and the journal entries of its run so far.

    The state is updated with each entry, so that drawing a frame does not walk through a large
    plan.
    """

    def __init__(self, plan: Plan, before: Iterable[JournalEntry] = ()) -> None:
        self.plan = plan
        self._steps = {step.id: step for step in plan.steps}
        self._total = Counter(step.stage for step in plan.steps)
        self._fold = RunStateFold("", before)
        so_far = self._fold.state
        self._finished = {step.id for step in plan.steps if so_far.is_done(step.id)}
        self._done = Counter(self._steps[step].stage for step in self._finished)
        self._running: dict[str, RunningStep] = {}
        self._estimate: tuple[datetime, float] | None = None
        """The last estimate and its time."""
        self.failed = 0
        """Number of steps that failed while the run was watched."""

    def add(self, entry: JournalEntry) -> None:
        """Add a journal entry."""
        self._fold.add(entry)
        if not entry.step:
            return
        if entry.event is EntryType.FINISHED:
            self._finish(entry.step)
        elif entry.event is EntryType.FAILED:
            self.failed += 1
            self._running.pop(entry.step, None)
        else:
            known = self._running.get(entry.step) or self._running_step(entry)
            self._running[entry.step] = replace(known, says=_message(entry))

    def seconds_left(self, now: datetime) -> float:
        """Return the estimated remaining seconds, computed at most once a second."""
        if self._estimate is None or not timedelta() <= now - self._estimate[0] < _SECOND:
            self._estimate = now, seconds_left(self.plan, self._fold.state, now)
        return self._estimate[1]

    @property
    def held(self) -> Mapping[str, TakenHold]:
        """Return the active holds by key."""
        return self._fold.held

    @property
    def finished(self) -> int:
        """Return the number of finished steps."""
        return len(self._finished)

    @property
    def stages(self) -> dict[str, tuple[int, int]]:
        """Return finished and total steps of each stage, in order."""
        total = self._total
        return {stage.value: (self._done[stage], total[stage]) for stage in Stage if total[stage]}

    @property
    def running(self) -> tuple[RunningStep, ...]:
        """Return the running steps, the longest running first."""
        return tuple(sorted(self._running.values(), key=lambda step: step.since))

    def started_at(self, step: str) -> datetime | None:
        """Return when a running step started. None: it is not running."""
        running = self._running.get(step)
        return None if running is None else running.since

    def summary(self, step: str) -> str:
        """Return the summary of a step; its ID if the plan does not contain it."""
        planned = self._steps.get(step)
        return step if planned is None else planned.action.summary

    def _running_step(self, entry: JournalEntry) -> RunningStep:
        planned, summary = self._steps.get(entry.step), self.summary(entry.step)
        if planned is not None and planned.node not in summary:
            summary = f"{planned.node}: {summary}"
        return RunningStep(step=entry.step, what=summary, since=entry.at)

    def _finish(self, step: str) -> None:
        self._running.pop(step, None)
        if step in self._steps and step not in self._finished:
            self._finished.add(step)
            self._done[self._steps[step].stage] += 1


def count_results(plan: Plan, state: RunState) -> Counts:
    """Count the steps of a plan by result."""
    states = [state.step(step.id) for step in plan.steps]
    finished = [step_state for step_state in states if step_state.progress is StepProgress.DONE]
    already = sum(step_state.already for step_state in finished)
    return Counts(
        steps=len(states),
        done=len(finished) - already,
        already=already,
        failed=sum(step_state.progress is StepProgress.FAILED for step_state in states),
    )


def _message(entry: JournalEntry) -> str:
    match entry.event:
        case EntryType.GATE if entry.text("answer") != "go":
            return f"waiting: {entry.text('gate')}: {entry.text('because')}"
        case EntryType.STARTED if attempt_of(entry) > 1:
            return f"attempt {attempt_of(entry)}"
        case EntryType.RETRIED:
            return f"retrying: {_entry_text(entry)}"
        case EntryType.UNKNOWN:
            return "the result is unknown; checking"
    return ""


def _entry_text(entry: JournalEntry) -> str:
    problem = entry.data.get("problem")
    return str(problem.get("what", "")) if isinstance(problem, dict) else ""


def attempt_of(entry: JournalEntry) -> int:
    """Return the attempt that a `started` entry begins."""
    attempt = entry.data.get("attempt")
    return attempt if isinstance(attempt, int) else 1


_REPEAT_INTERVAL = timedelta(minutes=2)
"""How often a repeated wait is logged."""


class LiveLines:
    """Formats journal entries as log lines; a repeated wait is logged less often.

    Must be called before the entry is added to the progress.
    """

    def __init__(self, progress: LiveProgress) -> None:
        self._progress = progress
        self._waits: dict[str, tuple[str, datetime]] = {}

    def log_line(self, entry: JournalEntry) -> str:
        """Return the log line of an entry. Empty: it is not logged."""
        message = (
            self._gate_message(entry) if entry.event is EntryType.GATE else self._log_message(entry)
        )
        about = entry.step or "run"
        return escape_control(f"{entry.at:%H:%M:%S} {about}: {message}") if message else ""

    def permanent_line(self, entry: JournalEntry) -> Cell | None:
        """Return the line that stays above the frame. None: there is none."""
        summary = self._progress.summary(entry.step) if entry.step else ""
        match entry.event:
            case EntryType.FINISHED if entry.data.get("already") is True:
                return _permanent_line("already", f"{summary}: already done", "faint")
            case EntryType.FINISHED:
                return _permanent_line("done", f"{summary}{self._duration(entry, ' (', ')')}")
            case EntryType.FAILED:
                return _permanent_line("failed", f"{summary}: {_problem_text(entry)}", "error")
            case EntryType.UNKNOWN:
                return _permanent_line("unknown", f"{summary}: {_problem_text(entry)}", "warning")
            case EntryType.RETRIED:
                return _permanent_line("again", f"{summary}: {_problem_text(entry)}", "warning")
            case EntryType.NOTE:
                return _permanent_line("note", entry.text("text"))
            case EntryType.ACCEPTED:
                return _permanent_line("run", self._run_description(entry))
        return None

    def _log_message(self, entry: JournalEntry) -> str:
        match entry.event:
            case EntryType.ACCEPTED:
                return f"accepted: {self._run_description(entry)}"
            case EntryType.STARTED:
                attempt = attempt_of(entry)
                again = f", attempt {attempt}" if attempt > 1 else ""
                return f"started{again}: {self._progress.summary(entry.step)}"
            case EntryType.FINISHED:
                return self._finish_message(entry)
            case EntryType.UNKNOWN | EntryType.FAILED:
                return f"{entry.event.value}: {_problem_text(entry)}"
            case EntryType.RETRIED:
                return f"retrying in {format_duration(_wait(entry))}: {_problem_text(entry)}"
            case EntryType.HELD | EntryType.RELEASED:
                return self._hold_message(entry)
            case EntryType.ENDED:
                return f"ended: {entry.text('result')}"
            case EntryType.NOTE:
                return entry.text("text")
        return str(entry.event.value)

    def _run_description(self, entry: JournalEntry) -> str:
        steps = len(self._progress.plan.steps)
        count = "1 step" if steps == 1 else f"{steps} steps"
        return f"{entry.text('run')}, {count} on cluster {self._progress.plan.cluster}"

    def _finish_message(self, entry: JournalEntry) -> str:
        position = f"{self._progress.finished + 1} of {len(self._progress.plan.steps)}"
        if entry.data.get("already") is True:
            return f"done: no change was needed ({position})"
        return f"done{self._duration(entry, ' in ')} ({position})"

    def _duration(self, entry: JournalEntry, before: str, after: str = "") -> str:
        since = self._progress.started_at(entry.step)
        if since is None:
            return ""
        return f"{before}{format_duration((entry.at - since).total_seconds())}{after}"

    def _gate_message(self, entry: JournalEntry) -> str:
        gate, because = entry.text("gate"), entry.text("because")
        key = f"{entry.step} {gate}"
        before = self._waits.pop(key, None)
        if entry.text("answer") == "go":
            return f"passed: {gate}: {because}" if before is not None else ""
        verb = "waits" if entry.text("answer") == "wait" else "refused"
        message = f"{verb}: {gate}: {because}"
        if before is not None and before[0] == message and entry.at - before[1] < _REPEAT_INTERVAL:
            self._waits[key] = before
            return ""
        self._waits[key] = (message, entry.at)
        return message

    def _hold_message(self, entry: JournalEntry) -> str:
        if entry.event is EntryType.HELD:
            return f"hold acquired: {hold_summary(parse_hold_entry(entry))}"
        known = self._progress.held.get(entry.text("key"))
        return f"hold released: {entry.text('key') if known is None else hold_summary(known)}"


def _permanent_line(label: str, text: str, style: str = "") -> Cell:
    return Cell(escape_control(f"{label:<8} {text}"), style)


def _wait(entry: JournalEntry) -> float:
    seconds = entry.data.get("wait")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _problem_text(entry: JournalEntry) -> str:
    problem = entry.data.get("problem")
    if not isinstance(problem, dict):
        return ""
    return f"{problem.get('what', '')} ({problem.get('code', '')})"
