"""Runs: the last one, what nobody finished, and who has the lock."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.status import care_problems as say
from stockman.app.status.finding import Check, Finding, Item, Part, part, unknown, warning
from stockman.app.status.health import Health
from stockman.app.status.seen import RunSeen, RunsSeen, Seen

_OPEN = "open"


def judged_runs(seen: Seen) -> Part:
    """What the journals and the lock say."""
    runs = seen.runs
    if runs is None or runs.why:
        why = runs.why if runs is not None else "nobody looked"
        finding = unknown("runs", why, "see `lock.home` in cluster.yaml, then `stockman runs list`")
        return part(Check.RUNS, "not known", [finding])
    items = [] if runs.newest is None else [_item(runs.newest)]
    return part(Check.RUNS, _text(runs), _findings(runs), items)


def _text(runs: RunsSeen) -> str:
    newest = runs.newest
    if newest is None:
        return "there was no run yet" + (f", the lock is held by {runs.lock}" if runs.lock else "")
    when = f" at {newest.last:%Y-%m-%d %H:%M}" if newest.last is not None else ""
    held = f", the lock is held by {runs.lock}" if runs.lock else ", the lock is free"
    return f"{runs.count} runs, the last is {newest.result}{when}{held}"


def _item(one: RunSeen) -> Item:
    health = Health.OK if one.result in ("done", "aborted") else Health.WARNING
    return Item(name=one.run, health=health, seen=f"{one.result}, {one.done}/{one.steps} steps")


def _findings(runs: RunsSeen) -> Iterator[Finding]:
    if runs.lock:
        yield Finding(subject="lock", problem=warning(say.lock_held(runs.lock)))
    for one in runs.unfinished:
        if runs.lock and one.run in runs.lock:
            continue
        told = "open: it was killed" if one.result == _OPEN else one.result
        progress = f"{one.done} of {one.steps}"
        problem = say.unfinished(one.run, told, progress, "; ".join(one.held))
        yield Finding(subject=one.run, problem=problem if one.held else warning(problem))
