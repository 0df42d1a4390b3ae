"""Status of backups, and the longest gap of a cron schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise

from stockman.assessment.status import problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    part_off,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.observed import (
    ObservedBackup,
    ObservedLease,
    ObservedRun,
    ObservedRuns,
    StatusInput,
)
from stockman.kubernetes.leases import RUN_LEASE_NAME, RUN_LEASE_NAMESPACE
from stockman.model.problem import Problem
from stockman.model.schedule import parse_schedule
from stockman.talos.credentials.certificates import CertificateState

_DAYS = 800
"""Long enough for every schedule except those of only February 29."""
_START = date(2027, 1, 1)


def longest_gap(schedule: str) -> timedelta | None:
    """Return the longest time between two moments of a schedule. None: there is none."""
    try:
        parsed_schedule = parse_schedule(schedule)
    except ValueError:
        return None
    ends = (parsed_schedule.times[0], parsed_schedule.times[-1])
    moments: list[datetime] = []
    for number in range(_DAYS):
        day = _START + timedelta(days=number)
        if parsed_schedule.matches_day(day):
            moments += (datetime.combine(day, end) for end in ends)
    within = [
        datetime.combine(_START, later) - datetime.combine(_START, earlier)
        for earlier, later in pairwise(parsed_schedule.times)
    ]
    between = [
        later - earlier for earlier, later in zip(moments[1::2], moments[2::2], strict=False)
    ]
    return max([*within, *between], default=None) if moments else None


_GRACE = 2
"""A snapshot is overdue after this many times the longest gap of the schedule."""
_DAY = timedelta(days=1)
_MIB = 1 << 20


def assess_backups(state: StatusInput) -> StatusPart:
    """Assess every backup target of the configuration."""
    backup = state.desired.backup
    if state.desired.cluster is None or not backup.enabled:
        return part_off(StatusCheck.BACKUPS, "no backups of etcd are configured")
    if not state.backups:
        why = "backups are on, and no target says where they go"
        finding = unknown_finding("backups", why, "give `backup.targets` in cluster.yaml")
        return build_part(StatusCheck.BACKUPS, "no target", [finding])
    judged = [(item, tuple(_backup_findings(item, state))) for item in state.backups]
    items = [
        StatusItem(
            name=item.target,
            health=worst_health(finding.health for finding in findings),
            summary=_backup_summary(item, state.at),
        )
        for item, findings in judged
    ]
    text = "; ".join(f"{item.name}: {item.summary}" for item in items)
    return build_part(
        StatusCheck.BACKUPS, text, [item for _, findings in judged for item in findings], items
    )


def _backup_summary(backup: ObservedBackup, at: datetime) -> str:
    if backup.why:
        return "not known"
    if backup.newest is None:
        return "no snapshot"
    size = f"{backup.size / _MIB:.1f} MiB"
    return f"{backup.count} snapshots, the newest {format_duration(at - backup.newest)} old, {size}"


def _backup_findings(backup: ObservedBackup, state: StatusInput) -> Iterator[StatusFinding]:
    if backup.why:
        fix = "give its credentials in cluster.yaml or in the environment, then `stockman status`"
        if backup.is_directory:
            fix = f"make {backup.where}, or mount it, and let this user read it"
        yield unknown_finding(f"backup target {backup.target}", backup.why, fix, is_error=False)
        return
    gap = longest_gap(state.desired.backup.schedule)
    longest = (gap or _DAY) * _GRACE
    if backup.newest is None:
        problem = say.no_backup(backup.target, backup.where, state.desired.backup.schedule)
        problem = _in_directory(problem, backup, state)
        is_late = _cluster_age(state) > longest
        yield StatusFinding(
            subject=backup.target, problem=problem if is_late else as_warning(problem)
        )
    elif state.at - backup.newest > longest:
        problem = say.old_backup(
            backup.target,
            backup.where,
            format_duration(state.at - backup.newest),
            format_duration(gap or _DAY),
        )
        yield StatusFinding(subject=backup.target, problem=_in_directory(problem, backup, state))


def _in_directory(problem: Problem, backup: ObservedBackup, state: StatusInput) -> Problem:
    """Adapt a problem for a directory target: the backup component writes only to buckets."""
    if not backup.is_directory:
        return problem
    controllers = (node.name for node in state.desired.nodes if node.is_controller)
    address = state.address_of(str(next(controllers, "")))
    file = f"{backup.where}/{state.name}.snap"
    return replace(
        problem,
        fix=f"take one with `talosctl -n {address} etcd snapshot {file}`,"
        " from cron by the schedule: nothing in the cluster writes to a directory",
    )


def _cluster_age(state: StatusInput) -> timedelta:
    """Return the age of the cluster: that of its oldest node. None: unknown."""
    born = [node.created for node in state.nodes.values() if node.created is not None]
    return state.at - min(born) if born else timedelta()


def format_duration(length: timedelta) -> str:
    """Format a duration for people: `40 minutes`, `6 hours`, `3 days`."""
    minutes = max(int(length.total_seconds()) // 60, 0)
    if minutes < 2 * 60:
        return f"{minutes} minutes"
    hours = minutes // 60
    return f"{hours} hours" if hours < 2 * 24 else f"{hours // 24} days"


_CERTIFICATE_HEALTH = {CertificateState.ENDED: Health.ERROR, CertificateState.DUE: Health.WARNING}


def assess_certificates(state: StatusInput) -> StatusPart:
    """Assess every certificate of the directory."""
    if state.desired.cluster is None:
        return part_off(StatusCheck.CERTIFICATES, "no cluster is configured")
    listing = state.certificates
    if listing is None or not (listing.certificates or listing.not_read):
        why = "there is no secrets bundle, talosconfig or kubeconfig in this directory"
        fix = "make them with `stockman secrets create` and `stockman config talosconfig`"
        return build_part(
            StatusCheck.CERTIFICATES, "there are none", [unknown_finding("certificates", why, fix)]
        )
    findings = [
        *(
            StatusFinding(subject=str(problem.where), problem=problem)
            for problem in listing.problems
        ),
        *(
            StatusFinding(subject=str(problem.where), problem=problem, unknown=True)
            for problem in listing.not_read
        ),
    ]
    items = [
        StatusItem(
            name=f"{problem.name} in {problem.file}",
            health=_CERTIFICATE_HEALTH.get(problem.standing, Health.OK),
            summary=f"until {problem.ends:%Y-%m-%d}, {problem.days_left} days left",
        )
        for problem in listing.certificates
    ]
    first = min(listing.certificates, key=lambda problem: problem.ends, default=None)
    text = f"{len(listing.certificates)} certificates"
    if first is not None:
        text += f", the first ends {first.ends:%Y-%m-%d} ({first.name} in {first.file})"
    return build_part(StatusCheck.CERTIFICATES, text, findings, items)


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
    return build_part(StatusCheck.RUNS, _run_summary(runs), _run_findings(runs), _run_items(runs))


def _run_summary(runs: ObservedRuns) -> str:
    lines = [_newest_run(runs), f"the lock {_lock_holder(runs.lock)}"]
    if runs.lease is not None:
        lines.append(f"the Lease {_lease_summary(runs.lease)}")
    return ", ".join(lines)


def _newest_run(runs: ObservedRuns) -> str:
    newest = runs.newest
    if newest is None:
        return "there was no run yet"
    when = f" at {newest.last:%Y-%m-%d %H:%M}" if newest.last is not None else ""
    return f"{runs.count} run{'' if runs.count == 1 else 's'}, the last is {newest.result}{when}"


def _lock_holder(holder: str) -> str:
    return f"is held by {holder}" if holder else "is free"


def _lease_summary(lease: ObservedLease) -> str:
    if lease.why:
        return "in Kubernetes is not known"
    if lease.is_free and lease.holder:
        return f"in Kubernetes is free, left behind by {lease.holder}"
    when = f", renewed at {lease.renewed:%H:%M:%S}" if lease.renewed and lease.holder else ""
    return f"in Kubernetes {_lock_holder(lease.holder)}{when}"


def _is_ours(lease: ObservedLease, runs: ObservedRuns) -> bool:
    """Whether an unfinished run under our lock holds the Lease."""
    return any(lease.holder.startswith(f"{run.run}-") for run in runs.unfinished)


def _run_items(runs: ObservedRuns) -> Iterator[StatusItem]:
    if runs.newest is not None:
        yield _run_item(runs.newest)
    yield StatusItem(name="lock", health=_busy(runs.lock), summary=_lock_holder(runs.lock))
    lease = runs.lease
    if lease is not None:
        health = Health.UNKNOWN if lease.why else _busy("" if lease.is_free else lease.holder)
        yield StatusItem(
            name=f"Lease {RUN_LEASE_NAMESPACE}/{RUN_LEASE_NAME}",
            health=health,
            summary=lease.why or _lease_summary(lease),
        )


def _busy(holder: str) -> Health:
    return Health.WARNING if holder else Health.OK


def _run_item(run: ObservedRun) -> StatusItem:
    health = Health.OK if run.result in ("done", "aborted") else Health.WARNING
    return StatusItem(
        name=run.run, health=health, summary=f"{run.result}, {run.done}/{run.steps} steps"
    )


def _run_findings(runs: ObservedRuns) -> Iterator[StatusFinding]:
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
