"""How far apart the moments of a cron schedule are."""

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
    disabled_part,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.observed import ObservedBackup, StatusInput
from stockman.model.problem import Problem
from stockman.model.schedule import parse_schedule

_DAYS = 800
"""Far enough for every schedule but those of the 29th of February alone."""
_START = date(2027, 1, 1)


def longest_gap(schedule: str) -> timedelta | None:
    """The longest time between two moments of a schedule. None: it has none, or is none."""
    try:
        found = parse_schedule(schedule)
    except ValueError:
        return None
    ends = (found.times[0], found.times[-1])
    moments: list[datetime] = []
    for number in range(_DAYS):
        day = _START + timedelta(days=number)
        if found.is_on(day):
            moments += (datetime.combine(day, one) for one in ends)
    within = [
        datetime.combine(_START, later) - datetime.combine(_START, earlier)
        for earlier, later in pairwise(found.times)
    ]
    between = [
        later - earlier for earlier, later in zip(moments[1::2], moments[2::2], strict=False)
    ]
    return max([*within, *between], default=None) if moments else None


_GRACE = 2
"""So many times the longest gap of the schedule may pass without a new snapshot."""
_DAY = timedelta(days=1)
_MIB = 1 << 20


def assess_backups(seen: StatusInput) -> StatusPart:
    """Every target of the configuration."""
    backup = seen.desired.backup
    if seen.desired.cluster is None or not backup.enabled:
        return disabled_part(StatusCheck.BACKUPS, "no backups of etcd are configured")
    if not seen.backups:
        why = "backups are on, and no target says where they go"
        finding = unknown_finding("backups", why, "give `backup.targets` in cluster.yaml")
        return build_part(StatusCheck.BACKUPS, "no target", [finding])
    judged = [(one, tuple(_findings(one, seen))) for one in seen.backups]
    items = [
        StatusItem(
            name=one.target,
            health=worst_health(finding.health for finding in found),
            seen=_text(one, seen.at),
        )
        for one, found in judged
    ]
    text = "; ".join(f"{one.name}: {one.seen}" for one in items)
    return build_part(
        StatusCheck.BACKUPS, text, [one for _, found in judged for one in found], items
    )


def _text(one: ObservedBackup, at: datetime) -> str:
    if one.why:
        return "not known"
    if one.newest is None:
        return "no snapshot"
    size = f"{one.size / _MIB:.1f} MiB"
    return f"{one.count} snapshots, the newest {format_duration(at - one.newest)} old, {size}"


def _findings(one: ObservedBackup, seen: StatusInput) -> Iterator[StatusFinding]:
    if one.why:
        fix = "give its credentials in cluster.yaml or in the environment, then `stockman status`"
        if one.is_directory:
            fix = f"make {one.where}, or mount it, and let this user read it"
        yield unknown_finding(f"backup target {one.target}", one.why, fix, is_error=False)
        return
    gap = longest_gap(seen.desired.backup.schedule)
    longest = (gap or _DAY) * _GRACE
    if one.newest is None:
        problem = say.no_backup(one.target, one.where, seen.desired.backup.schedule)
        problem = _in_directory(problem, one, seen)
        is_late = _age(seen) > longest
        yield StatusFinding(subject=one.target, problem=problem if is_late else as_warning(problem))
    elif seen.at - one.newest > longest:
        problem = say.old_backup(
            one.target,
            one.where,
            format_duration(seen.at - one.newest),
            format_duration(gap or _DAY),
        )
        yield StatusFinding(subject=one.target, problem=_in_directory(problem, one, seen))


def _in_directory(problem: Problem, one: ObservedBackup, seen: StatusInput) -> Problem:
    """The same with what fills a directory: the component in the cluster writes to buckets only."""
    if not one.is_directory:
        return problem
    controllers = (node.name for node in seen.desired.nodes if node.is_controller)
    address = seen.address_of(str(next(controllers, "")))
    file = f"{one.where}/{seen.name}.snap"
    return replace(
        problem,
        fix=f"take one with `talosctl -n {address} etcd snapshot {file}`,"
        " from cron by the schedule: nothing in the cluster writes to a directory",
    )


def _age(seen: StatusInput) -> timedelta:
    """How old the cluster is, as its oldest node says; none where nobody does."""
    born = [one.created for one in seen.nodes.values() if one.created is not None]
    return seen.at - min(born) if born else timedelta()


def format_duration(length: timedelta) -> str:
    """A span for people: `40 minutes`, `6 hours`, `3 days`."""
    minutes = max(int(length.total_seconds()) // 60, 0)
    if minutes < 2 * 60:
        return f"{minutes} minutes"
    hours = minutes // 60
    return f"{hours} hours" if hours < 2 * 24 else f"{hours // 24} days"
