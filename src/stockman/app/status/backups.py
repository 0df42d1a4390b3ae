"""Backups: how old the newest snapshot of etcd is at each place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from stockman.app.status import care_problems as say
from stockman.app.status.finding import Check, Finding, Item, Part, off, part, unknown, warning
from stockman.app.status.health import worst
from stockman.app.status.schedule import longest_gap
from stockman.app.status.seen import BackupSeen, Seen
from stockman.model.problem import Problem

_GRACE = 2
"""So many times the longest gap of the schedule may pass without a new snapshot."""
_DAY = timedelta(days=1)
_MIB = 1 << 20


def judged_backups(seen: Seen) -> Part:
    """Every target of the configuration."""
    backup = seen.desired.backup
    if seen.desired.cluster is None or not backup.enabled:
        return off(Check.BACKUPS, "no backups of etcd are configured")
    if not seen.backups:
        why = "backups are on, and no target says where they go"
        finding = unknown("backups", why, "give `backup.targets` in cluster.yaml")
        return part(Check.BACKUPS, "no target", [finding])
    judged = [(one, tuple(_findings(one, seen))) for one in seen.backups]
    items = [
        Item(
            name=one.target,
            health=worst(finding.health for finding in found),
            seen=_text(one, seen.at),
        )
        for one, found in judged
    ]
    text = "; ".join(f"{one.name}: {one.seen}" for one in items)
    return part(Check.BACKUPS, text, [one for _, found in judged for one in found], items)


def _text(one: BackupSeen, at: datetime) -> str:
    if one.why:
        return "not known"
    if one.newest is None:
        return "no snapshot"
    size = f"{one.size / _MIB:.1f} MiB"
    return f"{one.count} snapshots, the newest {span(at - one.newest)} old, {size}"


def _findings(one: BackupSeen, seen: Seen) -> Iterator[Finding]:
    if one.why:
        fix = "give its credentials in cluster.yaml or in the environment, then `stockman status`"
        if one.is_directory:
            fix = f"make {one.where}, or mount it, and let this user read it"
        yield unknown(f"backup target {one.target}", one.why, fix, is_error=False)
        return
    gap = longest_gap(seen.desired.backup.schedule)
    longest = (gap or _DAY) * _GRACE
    if one.newest is None:
        problem = say.no_backup(one.target, one.where, seen.desired.backup.schedule)
        problem = _in_directory(problem, one, seen)
        is_late = _age(seen) > longest
        yield Finding(subject=one.target, problem=problem if is_late else warning(problem))
    elif seen.at - one.newest > longest:
        problem = say.old_backup(
            one.target, one.where, span(seen.at - one.newest), span(gap or _DAY)
        )
        yield Finding(subject=one.target, problem=_in_directory(problem, one, seen))


def _in_directory(problem: Problem, one: BackupSeen, seen: Seen) -> Problem:
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


def _age(seen: Seen) -> timedelta:
    """How old the cluster is, as its oldest node says; none where nobody does."""
    born = [one.created for one in seen.nodes.values() if one.created is not None]
    return seen.at - min(born) if born else timedelta()


def span(length: timedelta) -> str:
    """A span for people: `40 minutes`, `6 hours`, `3 days`."""
    minutes = max(int(length.total_seconds()) // 60, 0)
    if minutes < 2 * 60:
        return f"{minutes} minutes"
    hours = minutes // 60
    return f"{hours} hours" if hours < 2 * 24 else f"{hours // 24} days"
