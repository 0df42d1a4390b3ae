"""What a journal comes to: the state of a run and of each of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import Enum

from stockman.engine.journal import EntryType, JournalEntry, hold_prior
from stockman.model.record import record
from stockman.steps.base import Json


class StepProgress(Enum):
    """How far a step is."""

    WAITING = "waiting"
    AT_GATE = "at gate"
    RUNNING = "running"
    UNKNOWN = "unknown"
    """It may have had its effect or not; whoever goes on looks first."""
    DONE = "done"
    FAILED = "failed"


class RunResult(Enum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """A gate was closed."""
    PAUSED = "paused"
    ABORTED = "aborted"

    @property
    def is_final(self) -> bool:
        return self in (RunResult.DONE, RunResult.ABORTED)


@record
class FailedAttempt:
    """An attempt of a step that failed."""

    at: datetime
    attempt: int
    """Which one, over all who worked on the run. 0: it ended before it had an effect."""
    code: str
    """Of its problem."""
    what: str


@record
class StepState:
    """How far a step is, and what was seen on the way."""

    progress: StepProgress = StepProgress.WAITING
    attempts: int = 0
    """How often it was about to have an effect."""
    gate: str = ""
    """What the last gate said."""
    problem: Mapping[str, object] | None = None
    """Why it failed, or why nobody knows. None: it did not."""
    started: datetime | None = None
    """When it first was about to have an effect. None: never."""
    finished: datetime | None = None
    """None: it is not."""
    already: bool = False
    """Whether there was nothing to do."""
    failed_attempts: tuple[FailedAttempt, ...] = ()
    """Attempts that failed, in their order, also where a later one did not."""


@record
class TakenHold:
    """Something that was taken and not given back yet."""

    key: str
    hold: Mapping[str, object]
    """The hold, as JSON."""
    prior: Json
    since: datetime


@record
class RunState:
    """A run as its journal tells it."""

    run: str
    cluster: str = ""
    plan: str = ""
    """Digest of its plan."""
    by: str = ""
    accepted: datetime | None = None
    """None: the journal has no entry yet."""
    last: datetime | None = None
    result: RunResult | None = None
    """None: it runs, or was killed."""
    steps: Mapping[str, StepState] = field(default_factory=dict)
    """By id; steps that nothing happened to are not here."""
    held: Mapping[str, TakenHold] = field(default_factory=dict)
    """By key."""
    notes: tuple[str, ...] = ()

    def step(self, name: str) -> StepState:
        return self.steps.get(name, _PENDING)

    def is_done(self, name: str) -> bool:
        return self.step(name).progress is StepProgress.DONE


_PENDING = StepState()


class RunStateFold:
    """A state that grows with each entry, for whoever watches a run."""

    def __init__(self, run: str, entries: Iterable[JournalEntry] = ()) -> None:
        self._run_state = RunState(run=run)
        self._steps: dict[str, StepState] = {}
        self._held: dict[str, TakenHold] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: JournalEntry) -> None:
        """Take in what happened next."""
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
        """What is taken and not given back, by key; follows the entries."""
        return self._held

    @property
    def state(self) -> RunState:
        """Where the entries so far have led."""
        return replace(self._run_state, steps=dict(self._steps), held=dict(self._held))


def fold_entries(run: str, entries: Iterable[JournalEntry]) -> RunState:
    """The state that entries lead to; the same however the journal is stored."""
    return RunStateFold(run, entries).state


def _apply_run_entry(state: RunState, entry: JournalEntry) -> RunState:
    match entry.event:
        case EntryType.ACCEPTED:
            return replace(
                state,
                cluster=entry.text("cluster"),
                plan=entry.text("plan"),
                by=entry.text("by"),
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
        case EntryType.UNKNOWN:
            attempts = (*step.failed_attempts, *_failed_attempts(step, entry))
            return replace(
                step,
                progress=StepProgress.UNKNOWN,
                problem=_entry_problem(entry),
                failed_attempts=attempts,
            )
        case EntryType.RETRIED:
            attempts = (*step.failed_attempts, *_failed_attempts(step, entry))
            return replace(
                step,
                progress=StepProgress.WAITING,
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
        case EntryType.FAILED:
            attempts = (*step.failed_attempts, *_failed_attempts(step, entry))
            return replace(
                step,
                progress=StepProgress.FAILED,
                problem=_entry_problem(entry),
                failed_attempts=attempts,
            )
    return step


def _failed_attempts(step: StepState, entry: JournalEntry) -> Iterator[FailedAttempt]:
    problem = _entry_problem(entry)
    if problem is None:
        return
    code, what = str(problem.get("code", "")), str(problem.get("what", ""))
    last = step.failed_attempts[-1] if step.failed_attempts else None
    if step.progress is StepProgress.UNKNOWN and last is not None and last.code == code:
        return  # It is what nobody was sure of, told once more as the end.
    began = step.progress in (StepProgress.RUNNING, StepProgress.UNKNOWN)
    attempt = step.attempts if began else 0
    yield FailedAttempt(at=entry.at, attempt=attempt, code=code, what=what)


def _entry_problem(entry: JournalEntry) -> Mapping[str, object] | None:
    problem = entry.data.get("problem")
    return problem if isinstance(problem, dict) else None


def parse_hold_entry(entry: JournalEntry) -> TakenHold:
    """What a `held` entry says was taken."""
    hold = entry.data.get("hold")
    return TakenHold(
        key=entry.text("key"),
        hold=hold if isinstance(hold, dict) else {},
        prior=hold_prior(entry),
        since=entry.at,
    )


@record
class GateWait:
    """A gate that was closed for a while."""

    step: str
    gate: str
    seconds: float
    is_over: bool
    """False: it is still closed, as far as the journal knows."""


def list_gate_waits(entries: Iterable[JournalEntry]) -> tuple[GateWait, ...]:
    """Every wait, in the order in which they ended.

    Time in which nobody worked on the run, because it was killed or paused, is none.
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
