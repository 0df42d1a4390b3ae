"""`/nodes/NODE/tasks` and `/cluster/tasks`: what workers did and do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stockman_lab.pve import workers
from stockman_lab.pve.api.call import Answer, Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.cluster_state import Task
from stockman_lab.pve.errors import bad_parameters

_UPID = re.compile(
    r"UPID:([a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?):([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9})"
    r":([0-9A-Fa-f]{8}):([^:\s/]+):([^:\s/]*):([^:\s/]+):"
)
_ON_SCREEN = 25
"""Finished tasks of a host that the whole cluster knows of."""


@endpoint("GET", "/nodes/{node}/tasks")
def tasks(call: Call) -> object:
    """Tasks of a host, newest first; those of others only for who may audit the host."""
    everything = call.may(f"/nodes/{call.node.name}", "Sys.Audit")
    rows = [
        _row(task)
        for task in _of_host(call)
        if (everything or _is_own(call, task)) and _is_wanted(call, task)
    ]
    begin, limit = call.number("start"), call.number("limit", 50)
    return Answer(rows[begin : begin + limit] if limit else rows[begin:], total=len(rows))


@endpoint("GET", "/cluster/tasks")
def recent_tasks(call: Call) -> object:
    everything = call.may("/", "Sys.Audit")
    found: list[dict[str, object]] = []
    for host in call.cluster.state.hosts:
        mine = [task for task in call.cluster.state.tasks.values() if task.node == host]
        running = [task for task in mine if task.is_running]
        ended = [task for task in mine if not task.is_running][-_ON_SCREEN:]
        found += [_row(one) for one in (*ended, *running) if everything or _is_own(call, one)]
    return sorted(found, key=lambda row: -int(str(row["starttime"])))


@endpoint("GET", "/nodes/{node}/tasks/{upid}/status")
def task_status(call: Call) -> object:
    task = _task(call, "Sys.Audit")
    row = _facts(task, "running" if task.is_running else "stopped")
    if not task.is_running:
        row["exitstatus"] = task.exit_status
    return row


@endpoint("GET", "/nodes/{node}/tasks/{upid}/log")
def task_log(call: Call) -> object:
    task = _task(call, "Sys.Audit")
    lines = task.log or ["no content"]
    begin, limit = call.number("start"), call.number("limit", 50)
    shown = lines[begin : begin + limit] if limit else lines[begin:]
    rows = [{"n": begin + number, "t": line} for number, line in enumerate(shown, start=1)]
    return Answer(rows, total=len(lines))


@endpoint("DELETE", "/nodes/{node}/tasks/{upid}")
def stop_task(call: Call) -> object:
    task = _task(call, "Sys.Modify")
    workers.stop(call.cluster, task.upid)
    return None


def _task(call: Call, privilege: str) -> Task:
    upid = call.text("upid")
    parsed = _UPID.fullmatch(upid)
    if parsed is None:
        raise bad_parameters({"upid": "unable to parse worker upid"})
    owner = parsed[7]
    if not _owns(call, owner):
        call.check(f"/nodes/{call.text('node')}", privilege)
    task = call.cluster.state.tasks.get(upid)
    if task is None or task.node != call.node.name:
        raise bad_parameters({"upid": "no such task"})
    return task


def _owns(call: Call, owner: str) -> bool:
    """Tasks belong to who began them; those of a token also to its user."""
    caller = call.caller
    return owner in (caller.authid, caller.userid) or (
        caller.tokenid is None and owner.startswith(f"{caller.userid}!")
    )


def _is_own(call: Call, task: Task) -> bool:
    return _owns(call, task.user)


def _of_host(call: Call) -> Iterator[Task]:
    source = call.text("source", "archive")
    for task in reversed(call.cluster.state.tasks.values()):
        if task.node != call.node.name:
            continue
        if source == "all" or (source == "active") == task.is_running:
            yield task


def _is_wanted(call: Call, task: Task) -> bool:
    failed = not task.is_running and task.exit_status != "OK"
    wanted = [
        not call.flag("errors") or failed,
        not call.has("vmid") or task.id == call.text("vmid"),
        not call.has("typefilter") or task.type == call.text("typefilter"),
        not call.has("userfilter") or call.text("userfilter") in task.user,
        not call.has("since") or task.started_at >= call.number("since"),
        not call.has("until") or task.started_at <= call.number("until"),
        not call.has("statusfilter") or _kind(task) in call.text("statusfilter").split(","),
    ]
    return all(wanted)


def _kind(task: Task) -> str:
    if task.is_running:
        return "unknown"
    if task.exit_status == "OK":
        return "ok"
    return "warning" if task.exit_status.startswith("WARNINGS") else "error"


def _row(task: Task) -> dict[str, object]:
    row = _facts(task, "RUNNING" if task.is_running else task.exit_status)
    if task.ended_at is not None:
        row["endtime"] = int(task.ended_at)
    return row


def _facts(task: Task, status: str) -> dict[str, object]:
    userid, _, tokenid = task.user.partition("!")
    row: dict[str, object] = {
        "upid": task.upid,
        "node": task.node,
        "pid": task.pid,
        "pstart": task.pstart,
        "starttime": int(task.started_at),
        "type": task.type,
        "id": task.id,
        "user": userid,
        "status": status,
    }
    if tokenid:
        row["tokenid"] = tokenid
    return row
