"""Prometheus metrics of runs: the newest run, and the time of the last success."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from stockman.adapters.files import replace_file
from stockman.app.runs.history import RecordedRun, load_run
from stockman.assessment.status.metrics import Metric, MetricKind, Sample, gauge, prometheus_text
from stockman.engine.lifecycle import RunHome
from stockman.engine.state import (
    RunResult,
    RunState,
    StepProgress,
    fold_entries,
    list_gate_waits,
    seconds_left,
)
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.system import Clock, Entropy
from stockman.steps.step import Step

_RUNS, _KEPT = "stockman_runs", "Runs that are kept."
_OPEN = "open"
_ALREADY = "already"


@record
class RunHistory:
    """Input of the metrics."""

    runs: int
    """Number of stored runs."""
    newest: RecordedRun | None
    """None: there was no run yet."""
    last_success: datetime | None
    """When the last successful run ended. None: there was none."""


async def run_history(home: RunHome, clock: Clock) -> RunHistory:
    """Return the newest run, and search back to the last success."""
    names = await home.runs.list_runs()
    newest = await load_run(home, names[-1], clock) if names else None
    for name in reversed(names):
        run = newest if newest is not None and newest.run == name else None
        state = _state(run or await load_run(home, name, clock))
        if state.result is RunResult.DONE:
            return RunHistory(runs=len(names), newest=newest, last_success=state.last)
    return RunHistory(runs=len(names), newest=newest, last_success=None)


def run_metrics(history: RunHistory, now: datetime) -> tuple[Metric, ...]:
    """Return all metrics; unknown ones have no samples."""
    count = Sample(value=history.runs)
    if history.newest is None:
        return (gauge(_RUNS, _KEPT, count),)
    newest, state = history.newest, _state(history.newest)
    cluster = {"cluster": newest.plan.cluster}
    return (
        gauge(_RUNS, _KEPT, replace(count, labels=cluster)),
        gauge(
            "stockman_run_info",
            "The newest run, which the metrics below are about.",
            Sample(value=1, labels={**cluster, "run": newest.run}),
        ),
        *_moments(state, history.last_success, cluster),
        *_progress(newest, state, now),
        *_times(newest, state),
    )


def _moments(
    state: RunState, last_success: datetime | None, cluster: Mapping[str, str]
) -> Iterator[Metric]:
    result = _OPEN if state.result is None else state.result.value
    yield gauge(
        "stockman_run_result",
        "How it ended: 1 for one of the results. It is open while it runs, or was killed.",
        *(
            Sample(value=float(outcome == result), labels={**cluster, "result": outcome})
            for outcome in (_OPEN, *(result.value for result in RunResult))
        ),
    )
    for name, help_, at in (
        ("started", "When it was accepted.", state.accepted),
        ("last_entry", "When its journal was last written.", state.last),
        ("last_success", "When a run was last done, this one or one before.", last_success),
    ):
        samples = () if at is None else (Sample(value=at.timestamp(), labels=cluster),)
        yield gauge(f"stockman_run_{name}_timestamp_seconds", help_, *samples)


def _progress(newest: RecordedRun, state: RunState, now: datetime) -> Iterator[Metric]:
    cluster = {"cluster": newest.plan.cluster}
    states = Counter(_name(state, step) for step in newest.plan.steps)
    done = states[StepProgress.DONE.value] + states[_ALREADY]
    names = (*(progress.value for progress in StepProgress), _ALREADY)
    yield gauge(
        "stockman_run_steps",
        "Its steps by how far they are; done by the run, or true already.",
        *(
            Sample(value=states[progress], labels={**cluster, "state": progress})
            for progress in names
        ),
    )
    yield gauge(
        "stockman_run_progress_ratio",
        "How many of its steps are true, from 0 to 1.",
        Sample(value=done / (len(newest.plan.steps) or 1), labels=cluster),
    )
    over = state.result is not None and state.result.is_final
    left = 0.0 if over else seconds_left(newest.plan, state, now)
    yield gauge(
        "stockman_run_left_seconds",
        "How long what is left takes, by estimates.",
        Sample(value=left, labels=cluster),
    )
    yield gauge(
        "stockman_run_open_holds",
        "What it took and has not given back.",
        Sample(value=len(state.held), labels=cluster),
    )


def _times(newest: RecordedRun, state: RunState) -> Iterator[Metric]:
    cluster = newest.plan.cluster
    steps = {step.id: step for step in newest.plan.steps}
    took: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for step in newest.plan.steps:
        state_of_step = state.step(step.id)
        if state_of_step.started is not None and state_of_step.finished is not None:
            seconds = (state_of_step.finished - state_of_step.started).total_seconds()
            took[step.stage.value, step.action.kind].append(seconds)
    yield Metric(
        name="stockman_run_step_duration_seconds",
        help="How long its steps took that had an effect, without their gates.",
        kind=MetricKind.SUMMARY,
        samples=tuple(
            sample
            for (stage, kind), seconds in sorted(took.items())
            for sample in _sum_seconds({"cluster": cluster, "stage": stage, "kind": kind}, seconds)
        ),
    )
    waited: defaultdict[str, list[float]] = defaultdict(list)
    for wait in list_gate_waits(newest.entries):
        if wait.step in steps:
            waited[steps[wait.step].stage.value].append(wait.seconds)
    yield Metric(
        name="stockman_run_gate_wait_seconds",
        help="How long gates were waited for.",
        kind=MetricKind.SUMMARY,
        samples=tuple(
            sample
            for stage, seconds in sorted(waited.items())
            for sample in _sum_seconds({"cluster": cluster, "stage": stage}, seconds)
        ),
    )


def _sum_seconds(labels: Mapping[str, str], seconds: list[float]) -> tuple[Sample, Sample]:
    return (
        Sample(value=sum(seconds), labels=labels, suffix="_sum"),
        Sample(value=len(seconds), labels=labels, suffix="_count"),
    )


def _name(state: RunState, step: Step) -> str:
    state_of_step = state.step(step.id)
    return _ALREADY if state_of_step.already else str(state_of_step.progress.value)


def _state(run: RecordedRun) -> RunState:
    return fold_entries(run.run, run.entries)


_TAG_BYTES = 4


def write_textfile(path: Path, metrics: Iterable[Metric], entropy: Entropy) -> None:
    """Replace a metrics file atomically."""
    tag = entropy.random_bytes(_TAG_BYTES).hex()
    try:
        replace_file(path, prometheus_text(metrics).encode(), tag=tag)
    except OSError as error:
        raise StockmanError(_unwritable(path, error)) from None


def _unwritable(path: Path, error: OSError) -> Problem:
    return Problem(
        code="metrics.unwritable",
        what=f"{path.name} cannot be written",
        where=str(path),
        why=error.strerror or type(error).__name__,
        fix="check that the directory exists and that you may write there",
    )
