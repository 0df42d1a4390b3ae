"""Status of backups, and the longest gap of a cron schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise

from stockman.assessment.status import operations_problems as say
from stockman.assessment.status.findings import (
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
from stockman.assessment.status.observed import ObservedBackup, StatusInput
from stockman.model.problem import Problem
from stockman.model.schedule import parse_schedule

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
    judged = [(item, tuple(_findings(item, state))) for item in state.backups]
    items = [
        StatusItem(
            name=item.target,
            health=worst_health(finding.health for finding in findings),
            summary=_text(item, state.at),
        )
        for item, findings in judged
    ]
    text = "; ".join(f"{item.name}: {item.summary}" for item in items)
    return build_part(
        StatusCheck.BACKUPS, text, [item for _, findings in judged for item in findings], items
    )


def _text(backup: ObservedBackup, at: datetime) -> str:
    if backup.why:
        return "not known"
    if backup.newest is None:
        return "no snapshot"
    size = f"{backup.size / _MIB:.1f} MiB"
    return f"{backup.count} snapshots, the newest {format_duration(at - backup.newest)} old, {size}"


def _findings(backup: ObservedBackup, state: StatusInput) -> Iterator[StatusFinding]:
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
        is_late = _age(state) > longest
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


def _age(state: StatusInput) -> timedelta:
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
