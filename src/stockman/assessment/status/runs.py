"""Status of runs, the lock and the Lease."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.assessment.status import operations_problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    unknown_finding,
)
from stockman.assessment.status.observed import (
    ObservedLease,
    ObservedRun,
    ObservedRuns,
    StatusInput,
)
from stockman.kubernetes.leases import RUN_LEASE_NAME, RUN_LEASE_NAMESPACE

_OPEN = "open"


def assess_runs(state: StatusInput) -> StatusPart:
    """Assess runs, lock and Lease."""
    runs = state.runs
    if runs is None or runs.why:
        why = runs.why if runs is not None else "nobody looked"
        finding = unknown_finding(
            "runs", why, "see `lock.home` in cluster.yaml, then `stockman runs list`"
        )
        return build_part(StatusCheck.RUNS, "not known", [finding])
    return build_part(StatusCheck.RUNS, _text(runs), _findings(runs), _items(runs))


def _text(runs: ObservedRuns) -> str:
    lines = [_newest(runs), f"the lock {_held_items(runs.lock)}"]
    if runs.lease is not None:
        lines.append(f"the Lease {_lease(runs.lease)}")
    return ", ".join(lines)


def _newest(runs: ObservedRuns) -> str:
    newest = runs.newest
    if newest is None:
        return "there was no run yet"
    when = f" at {newest.last:%Y-%m-%d %H:%M}" if newest.last is not None else ""
    return f"{runs.count} run{'' if runs.count == 1 else 's'}, the last is {newest.result}{when}"


def _held_items(holder: str) -> str:
    return f"is held by {holder}" if holder else "is free"


def _lease(lease: ObservedLease) -> str:
    if lease.why:
        return "in Kubernetes is not known"
    if lease.is_free and lease.holder:
        return f"in Kubernetes is free, left behind by {lease.holder}"
    when = f", renewed at {lease.renewed:%H:%M:%S}" if lease.renewed and lease.holder else ""
    return f"in Kubernetes {_held_items(lease.holder)}{when}"


def _is_ours(lease: ObservedLease, runs: ObservedRuns) -> bool:
    """Whether an unfinished run under our lock holds the Lease."""
    return any(lease.holder.startswith(f"{run.run}-") for run in runs.unfinished)


def _items(runs: ObservedRuns) -> Iterator[StatusItem]:
    if runs.newest is not None:
        yield _item(runs.newest)
    yield StatusItem(name="lock", health=_busy(runs.lock), summary=_held_items(runs.lock))
    lease = runs.lease
    if lease is not None:
        health = Health.UNKNOWN if lease.why else _busy("" if lease.is_free else lease.holder)
        yield StatusItem(
            name=f"Lease {RUN_LEASE_NAMESPACE}/{RUN_LEASE_NAME}",
            health=health,
            summary=lease.why or _lease(lease),
        )


def _busy(holder: str) -> Health:
    return Health.WARNING if holder else Health.OK


def _item(run: ObservedRun) -> StatusItem:
    health = Health.OK if run.result in ("done", "aborted") else Health.WARNING
    return StatusItem(
        name=run.run, health=health, summary=f"{run.result}, {run.done}/{run.steps} steps"
    )


def _findings(runs: ObservedRuns) -> Iterator[StatusFinding]:
    if runs.lock:
        yield StatusFinding(subject="lock", problem=as_warning(say.lock_held(runs.lock)))
    lease = runs.lease
    if lease is not None and not lease.is_free and not runs.lock and not _is_ours(lease, runs):
        yield StatusFinding(subject="Lease", problem=as_warning(say.lease_held(lease.holder)))
    for run in runs.unfinished:
        if runs.lock and run.run in runs.lock:
            continue
        result = "open: it was killed" if run.result == _OPEN else run.result
        progress = f"{run.done} of {run.steps}"
        problem = say.open_run(run.run, result, progress, "; ".join(run.held))
        yield StatusFinding(subject=run.run, problem=problem if run.held else as_warning(problem))
