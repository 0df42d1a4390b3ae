"""Who did something to a guest, as the tasks of Proxmox VE tell."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from stockman.app.drift.finding import Author
from stockman.model.names import Vmid
from stockman.ports.proxmox.tasks import PastTask, TaskRef

MADE = frozenset({"qmcreate", "qmclone", "qmrestore", "vzcreate", "vzclone", "vzrestore"})
CHANGED = MADE | {"qmconfig", "resize", "qmmove", "qmrollback", "vzrollback", "move_volume"}
MOVED = MADE | {"qmigrate", "vzmigrate", "hamigrate"}
GONE = frozenset({"qmdestroy", "vzdestroy"})
STOPPED = frozenset(
    {"qmstart", "qmstop", "qmshutdown", "vzstart", "vzstop", "vzshutdown", "hastop"}
)
_UNTOLD = "no task tells: Proxmox VE changes most keys without one, and keeps old tasks for a while"


def task_author(tasks: Iterable[PastTask], vmid: Vmid, kinds: frozenset[str], own: str) -> Author:
    """Who ran the newest task of these kinds; what came after one of our own left no trace.

    `own` is the user whose token is ours.
    """
    found = [
        one
        for one in tasks
        if one.subject == str(vmid) and one.kind in kinds and _went_well(one.status)
    ]
    if not found:
        return Author(how=_UNTOLD)
    newest = max(found, key=lambda one: one.started)
    if newest.user.partition("!")[0] == own:
        return Author(how=_UNTOLD)
    host = TaskRef(upid=newest.upid).host
    return Author(
        who=_caller(newest),
        when=datetime.fromtimestamp(newest.started, UTC),
        how=f"task {newest.kind} on {host}",
    )


def _caller(task: PastTask) -> str:
    """The user, with the token where one was used, which only the name of the task tells."""
    return task.upid.rstrip(":").rpartition(":")[2] or task.user


def _went_well(status: str) -> bool:
    return status == "OK" or status.startswith("WARNINGS")
