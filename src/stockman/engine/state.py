"""What a journal comes to: the state of a run and of each of its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import Enum

from stockman.engine.entry import Entry, Event, prior_of
from stockman.model.record import record
from stockman.steps.base import Json


class Progress(Enum):
    """How far a step is."""

    WAITING = "waiting"
    AT_GATE = "at gate"
    RUNNING = "running"
    UNKNOWN = "unknown"
    """It may have had its effect or not; whoever goes on looks first."""
    DONE = "done"
    FAILED = "failed"


class Result(Enum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """A gate was closed."""
    PAUSED = "paused"
    ABORTED = "aborted"

    @property
    def is_final(self) -> bool:
        return self in (Result.DONE, Result.ABORTED)


@record
class Trouble:
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

    progress: Progress = Progress.WAITING
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
    troubles: tuple[Trouble, ...] = ()
    """Attempts that failed, in their order, also where a later one did not."""


@record
class Held:
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
    result: Result | None = None
    """None: it runs, or was killed."""
    steps: Mapping[str, StepState] = field(default_factory=dict)
    """By id; steps that nothing happened to are not here."""
    held: Mapping[str, Held] = field(default_factory=dict)
    """By key."""
    notes: tuple[str, ...] = ()

    def step(self, name: str) -> StepState:
        return self.steps.get(name, _UNTOUCHED)

    def is_done(self, name: str) -> bool:
        return self.step(name).progress is Progress.DONE


_UNTOUCHED = StepState()


class Fold:
    """A state that grows with each entry, for whoever watches a run."""

    def __init__(self, run: str, entries: Iterable[Entry] = ()) -> None:
        self._about = RunState(run=run)
        self._steps: dict[str, StepState] = {}
        self._held: dict[str, Held] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Take in what happened next."""
        self._about = replace(_about_run(self._about, entry), last=entry.at)
        if entry.step:
            self._steps[entry.step] = _about_step(self._steps.get(entry.step, _UNTOUCHED), entry)
        if entry.event is Event.HELD:
            self._held[entry.text("key")] = held_of(entry)
        elif entry.event is Event.RELEASED:
            self._held.pop(entry.text("key"), None)

    @property
    def held(self) -> Mapping[str, Held]:
        """What is taken and not given back, by key; follows the entries."""
        return self._held

    @property
    def state(self) -> RunState:
        """Where the entries so far have led."""
        return replace(self._about, steps=dict(self._steps), held=dict(self._held))


def folded(run: str, entries: Iterable[Entry]) -> RunState:
    """The state that entries lead to; the same however the journal is stored."""
    return Fold(run, entries).state


def _about_run(state: RunState, entry: Entry) -> RunState:
    match entry.event:
        case Event.ACCEPTED:
            return replace(
                state,
                cluster=entry.text("cluster"),
                plan=entry.text("plan"),
                by=entry.text("by"),
                accepted=entry.at,
            )
        case Event.PAUSED:
            return replace(state, result=Result.PAUSED)
        case Event.ENDED:
            return replace(state, result=Result(entry.text("result")))
        case Event.NOTE:
            running = None if entry.data.get("resumed") else state.result
            return replace(state, result=running, notes=(*state.notes, entry.text("text")))
    return state


def _about_step(step: StepState, entry: Entry) -> StepState:
    match entry.event:
        case Event.GATE:
            said = f"{entry.text('gate')}: {entry.text('because')}"
            return replace(step, progress=Progress.AT_GATE, gate=said)
        case Event.STARTED:
            return replace(
                step,
                progress=Progress.RUNNING,
                attempts=step.attempts + 1,
                started=step.started or entry.at,
                problem=None,
            )
        case Event.UNKNOWN:
            troubles = (*step.troubles, *_troubles(step, entry))
            return replace(
                step, progress=Progress.UNKNOWN, problem=_problem(entry), troubles=troubles
            )
        case Event.RETRIED:
            troubles = (*step.troubles, *_troubles(step, entry))
            return replace(
                step, progress=Progress.WAITING, problem=_problem(entry), troubles=troubles
            )
        case Event.FINISHED:
            return replace(
                step,
                progress=Progress.DONE,
                finished=entry.at,
                problem=None,
                already=entry.data.get("already") is True,
            )
        case Event.FAILED:
            troubles = (*step.troubles, *_troubles(step, entry))
            return replace(
                step, progress=Progress.FAILED, problem=_problem(entry), troubles=troubles
            )
    return step


def _troubles(step: StepState, entry: Entry) -> Iterator[Trouble]:
    problem = _problem(entry)
    if problem is None:
        return
    code, what = str(problem.get("code", "")), str(problem.get("what", ""))
    last = step.troubles[-1] if step.troubles else None
    if step.progress is Progress.UNKNOWN and last is not None and last.code == code:
        return  # It is what nobody was sure of, told once more as the end.
    began = step.progress in (Progress.RUNNING, Progress.UNKNOWN)
    attempt = step.attempts if began else 0
    yield Trouble(at=entry.at, attempt=attempt, code=code, what=what)


def _problem(entry: Entry) -> Mapping[str, object] | None:
    found = entry.data.get("problem")
    return found if isinstance(found, dict) else None


def held_of(entry: Entry) -> Held:
    """What a `held` entry says was taken."""
    hold = entry.data.get("hold")
    return Held(
        key=entry.text("key"),
        hold=hold if isinstance(hold, dict) else {},
        prior=prior_of(entry),
        since=entry.at,
    )
