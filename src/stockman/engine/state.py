"""The state of a run and of its steps, computed from the journal, and the remaining time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import Enum

from stockman.engine.journal import EntryType, JournalEntry, hold_prior
from stockman.model.record import record
from stockman.steps.base import Json
from stockman.steps.plan import Plan
from stockman.steps.step import Step


class StepProgress(Enum):
    """The progress of a step."""

    WAITING = "waiting"
    AT_GATE = "at gate"
    RUNNING = "running"
    UNKNOWN = "unknown"
    """The outcome is unknown; it is checked when the run is resumed."""
    DONE = "done"
    FAILED = "failed"


class RunResult(Enum):
    """The result of a run."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """A gate blocked a step."""
    PAUSED = "paused"
    ABORTED = "aborted"

    @property
    def is_final(self) -> bool:
        return self in (RunResult.DONE, RunResult.ABORTED)


@record
class FailedAttempt:
    """A failed attempt of a step."""

    at: datetime
    attempt: int
    """Number of the attempt since the run was started. 0: it failed before it had an effect."""
    code: str
    """Code of its problem."""
    what: str


@record
class StepState:
    """The state of a step."""

    progress: StepProgress = StepProgress.WAITING
    attempts: int = 0
    """How often its action was started."""
    gate: str = ""
    """The last answer of a gate."""
    problem: Mapping[str, object] | None = None
    """Why it failed, or why its outcome is unknown. None: neither."""
    started: datetime | None = None
    """When its action was first started. None: never."""
    finished: datetime | None = None
    """None: not finished."""
    already: bool = False
    """Whether there was nothing to do."""
    failed_attempts: tuple[FailedAttempt, ...] = ()
    """Failed attempts in order, also if a later one succeeded."""


@record
class TakenHold:
    """A hold that was taken and not released yet."""

    key: str
    hold: Mapping[str, object]
    """The hold, as JSON."""
    prior: Json
    since: datetime


@record
class RunState:
    """The state of a run according to its journal."""

    run: str
    cluster: str = ""
    plan: str = ""
    """Digest of its plan."""
    by: str = ""
    """Who executes it, for messages."""
    ends_cluster: bool = False
    """Whether its plan deletes the whole cluster."""
    accepted: datetime | None = None
    """None: the journal has no entry yet."""
    last: datetime | None = None
    """Time of the last entry. None: the journal has no entry yet."""
    result: RunResult | None = None
    """None: it is running, or was killed."""
    steps: Mapping[str, StepState] = field(default_factory=dict)
    """By id; without steps that have no entry."""
    held: Mapping[str, TakenHold] = field(default_factory=dict)
    """By key."""
    notes: tuple[str, ...] = ()

    def step(self, name: str) -> StepState:
        return self.steps.get(name, _PENDING)

    def is_done(self, name: str) -> bool:
        return self.step(name).progress is StepProgress.DONE


_PENDING = StepState()


class RunStateFold:
    """Computes the state of a run entry by entry."""

    def __init__(self, run: str, entries: Iterable[JournalEntry] = ()) -> None:
        self._run_state = RunState(run=run)
        self._steps: dict[str, StepState] = {}
        self._held: dict[str, TakenHold] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: JournalEntry) -> None:
        """Apply the next entry."""
        self._run_state = replace(_apply_run_entry(self._run_state, entry), last=entry.at)
        if entry.step:
            self._steps[entry.step] = _apply_step_entry(
                self._steps.get(entry.step, _PENDING), entry
            )
        if entry.event is EntryType.HELD:
            self._held[entry.text("key")] = parse_hold_entry(entry)
        elif entry.event is EntryType.RELEASED:
            self._held.pop(entry.text("key"), None)

    @property
    def held(self) -> Mapping[str, TakenHold]:
        """The current holds by key; changes with every entry."""
        return self._held

    @property
    def state(self) -> RunState:
        """The state after the entries so far."""
        return replace(self._run_state, steps=dict(self._steps), held=dict(self._held))


def fold_entries(run: str, entries: Iterable[JournalEntry]) -> RunState:
    """Return the state after some entries."""
    return RunStateFold(run, entries).state


def _apply_run_entry(state: RunState, entry: JournalEntry) -> RunState:
    match entry.event:
        case EntryType.ACCEPTED:
            return replace(
                state,
                cluster=entry.text("cluster"),
                plan=entry.text("plan"),
                by=entry.text("by"),
                ends_cluster=entry.data.get("ends_cluster") is True,
                accepted=entry.at,
            )
        case EntryType.PAUSED:
            return replace(state, result=RunResult.PAUSED)
        case EntryType.ENDED:
            return replace(state, result=RunResult(entry.text("result")))
        case EntryType.NOTE:
            running = None if entry.data.get("resumed") else state.result
            return replace(state, result=running, notes=(*state.notes, entry.text("text")))
    return state


_AFTER_FAILURE = {
    EntryType.UNKNOWN: StepProgress.UNKNOWN,
    EntryType.RETRIED: StepProgress.WAITING,
    EntryType.FAILED: StepProgress.FAILED,
}


def _apply_step_entry(step: StepState, entry: JournalEntry) -> StepState:
    match entry.event:
        case EntryType.GATE:
            gate = f"{entry.text('gate')}: {entry.text('because')}"
            return replace(step, progress=StepProgress.AT_GATE, gate=gate)
        case EntryType.STARTED:
            return replace(
                step,
                progress=StepProgress.RUNNING,
                attempts=step.attempts + 1,
                started=step.started or entry.at,
                problem=None,
            )
        case EntryType.UNKNOWN | EntryType.RETRIED | EntryType.FAILED:
            attempts = (*step.failed_attempts, *_failed_attempts(step, entry))
            return replace(
                step,
                progress=_AFTER_FAILURE[entry.event],
                problem=_entry_problem(entry),
                failed_attempts=attempts,
            )
        case EntryType.FINISHED:
            return replace(
                step,
                progress=StepProgress.DONE,
                finished=entry.at,
                problem=None,
                already=entry.data.get("already") is True,
            )
    return step


def _failed_attempts(step: StepState, entry: JournalEntry) -> Iterator[FailedAttempt]:
    problem = _entry_problem(entry)
    if problem is None:
        return
    code, what = str(problem.get("code", "")), str(problem.get("what", ""))
    last = step.failed_attempts[-1] if step.failed_attempts else None
    if step.progress is StepProgress.UNKNOWN and last is not None and last.code == code:
        return  # The error with the unknown outcome is already in the list.
    began = step.progress in (StepProgress.RUNNING, StepProgress.UNKNOWN)
    attempt = step.attempts if began else 0
    yield FailedAttempt(at=entry.at, attempt=attempt, code=code, what=what)


def _entry_problem(entry: JournalEntry) -> Mapping[str, object] | None:
    problem = entry.data.get("problem")
    return problem if isinstance(problem, dict) else None


def parse_hold_entry(entry: JournalEntry) -> TakenHold:
    """Return the hold of a `held` entry."""
    hold = entry.data.get("hold")
    return TakenHold(
        key=entry.text("key"),
        hold=hold if isinstance(hold, dict) else {},
        prior=hold_prior(entry),
        since=entry.at,
    )


@record
class GateWait:
    """A wait for a closed gate."""

    step: str
    gate: str
    seconds: float
    is_over: bool
    """False: the gate is still closed according to the journal."""


def list_gate_waits(entries: Iterable[JournalEntry]) -> tuple[GateWait, ...]:
    """List all waits in the order in which they ended.

    Time while the run was killed or paused does not count.
    """
    waits: list[GateWait] = []
    since: dict[tuple[str, str], datetime] = {}
    last: datetime | None = None

    def close_waits(at: datetime, *, step: str = "", gate: str = "", is_over: bool = True) -> None:
        for key in list(since):
            if step in ("", key[0]) and gate in ("", key[1]):
                seconds = (at - since.pop(key)).total_seconds()
                waits.append(GateWait(step=key[0], gate=key[1], seconds=seconds, is_over=is_over))

    for entry in entries:
        match entry.event:
            case EntryType.GATE if entry.text("answer") == "wait":
                since.setdefault((entry.step, entry.text("gate")), entry.at)
            case EntryType.GATE:
                close_waits(entry.at, step=entry.step, gate=entry.text("gate"))
            case EntryType.STARTED | EntryType.FINISHED | EntryType.FAILED:
                close_waits(entry.at, step=entry.step)
            case EntryType.PAUSED | EntryType.ENDED:
                close_waits(entry.at)
            case EntryType.NOTE if entry.data.get("resumed"):
                close_waits(last or entry.at)
        last = entry.at
    if last is not None:
        close_waits(last, is_over=False)
    return tuple(waits)


def seconds_to_end(plan: Plan) -> dict[str, float]:
    """Return for each step the seconds from its start until all steps that need it are done."""
    after: dict[str, float] = {}
    for step in reversed(plan.steps):
        seconds = step.seconds + after.get(step.id, 0.0)
        for need in step.needs:
            after[need] = max(after.get(need, 0.0), seconds)
    return {step.id: step.seconds + after.get(step.id, 0.0) for step in plan.steps}


def critical_path(plan: Plan) -> tuple[Step, ...]:
    """Return the longest chain of steps, in order."""
    seconds = seconds_to_end(plan)
    by_id = {step.id: step for step in plan.steps}
    starts = [step for step in plan.steps if not step.needs]
    path: list[Step] = []
    while starts:
        longest = max(starts, key=lambda step: seconds[step.id])
        path.append(longest)
        starts = [step for step in by_id.values() if longest.id in step.needs]
    return tuple(path)


def seconds_left(plan: Plan, state: RunState, now: datetime) -> float:
    """Return the seconds until the run ends, by the critical path or the busiest lane."""
    left = {step.id: _step_seconds_left(step, state, now) for step in plan.steps}
    ends: dict[str, float] = {}
    for step in plan.steps:
        ends[step.id] = left[step.id] + max((ends[need] for need in step.needs), default=0.0)
    return max([*ends.values(), *_lane_seconds(plan, left).values()], default=0.0)


def _step_seconds_left(step: Step, state: RunState, now: datetime) -> float:
    step_state = state.step(step.id)
    if step_state.progress is StepProgress.DONE:
        return 0.0
    if step_state.progress is StepProgress.RUNNING and step_state.started is not None:
        return max(step.seconds - (now - step_state.started).total_seconds(), 0.0)
    return step.seconds


def _lane_seconds(plan: Plan, left: Mapping[str, float]) -> dict[str, float]:
    """Return how many seconds each lane is busy."""
    busy: dict[str, float] = {}
    for step in plan.steps:
        for lane in step.lanes:
            width = plan.lanes.get(lane, 1)
            busy[lane] = busy.get(lane, 0.0) + left[step.id] / width
    return busy
