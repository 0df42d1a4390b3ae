"""Workers: what requests start and do not wait for.

A worker begins at once, takes its time, and finishes; what it does is known by a name, so that a
world that is saved in between goes on after it was loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.core.timeline import Arguments
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Task
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import Host

FINISH = "pve.task.finish"
POWER_LOST = "pve.host.loses-power"
_KEPT = 1000
_FOR_GOOD = 1e12


@dataclass(slots=True)
class Job:
    """A worker's view: the cluster, the task, and what it was asked for."""

    cluster: Cluster
    task: Task

    @property
    def arguments(self) -> dict[str, object]:
        return self.task.arguments

    def text(self, name: str) -> str:
        """An argument that is a text; empty where there is none."""
        return str(self.task.arguments.get(name, ""))

    def number(self, name: str) -> int:
        """An argument that is a whole number; 0 where there is none."""
        argument = self.task.arguments.get(name, 0)
        return argument if isinstance(argument, int) else int(str(argument))

    def log(self, line: str) -> None:
        self.task.log.append(line)

    def warn(self, line: str) -> None:
        self.task.log.append(f"WARN: {line}")


class Work:
    """One kind of work; what raises `ApiError` ends the task with that text."""

    name: ClassVar[str]

    def begin(self, job: Job) -> float:
        """Do what is done at once; returns how many seconds the rest takes."""
        del job
        return 0.0

    def finish(self, job: Job) -> float | None:
        """Do the rest; returns how many seconds more it takes. None: it is through."""
        del job
        return None

    def stretched(self, job: Job, seconds: float) -> None:
        """A fault makes what was begun take so much longer."""

    def power_lost(self, job: Job) -> None:
        """The host lost its power: forget what was only in its memory, and clean up nothing."""

    def abort(self, job: Job) -> None:
        """Clean up after a failure."""

    def ended(self, job: Job) -> None:
        """Called last, whatever came before."""


WORKS: dict[str, Work] = {}


def register(kind: type[Work]) -> type[Work]:
    """Make a kind of work known by its name."""
    WORKS[kind.name] = kind()
    return kind


@dataclass(slots=True)
class Asked:
    """What a worker is to do, and who wants it."""

    type: str
    id: str
    user: str
    work: str
    arguments: Mapping[str, object]


def start(cluster: Cluster, host: Host, asked: Asked) -> str:
    """Start a worker on a host; returns its UPID."""
    now = cluster.now
    host.next_pid += 1
    pstart = int((now - host.booted_at) * 100) & 0xFFFFFFFF
    upid = (
        f"UPID:{host.name}:{host.next_pid:08X}:{pstart:08X}:{int(now):08X}"
        f":{asked.type}:{asked.id}:{asked.user}:"
    )
    task = Task(
        upid=upid,
        node=host.name,
        type=asked.type,
        id=asked.id,
        user=asked.user,
        pid=host.next_pid,
        pstart=pstart,
        started_at=now,
        work=asked.work,
        arguments=dict(asked.arguments),
    )
    cluster.state.tasks[upid] = task
    _forget_old(cluster)
    _begin(Job(cluster, task))
    return upid


def finish(cluster: Cluster, upid: str) -> None:
    """The moment has come at which a worker is through."""
    task = cluster.state.tasks.get(upid)
    if task is None or not task.is_running or task.hangs:
        return
    job = Job(cluster, task)
    work = WORKS[task.work]
    claimed = str(task.arguments.get("_claimed", ""))
    try:
        more = work.finish(job) if claimed != Effect.CLAIM.value else None
    except ApiError as error:
        _fail(job, error)
        return
    if more is not None:
        _go_on(job, more)
        return
    if claimed == Effect.DO_THEN_FAIL.value:
        _end(job, str(task.arguments.get("_message", "")))
        return
    _end(job, "OK")


def finish_event(cluster: Cluster, arguments: Arguments) -> None:
    """The event that a worker is through."""
    finish(cluster, str(arguments["upid"]))


def stop(cluster: Cluster, upid: str) -> None:
    """Kill a worker."""
    task = cluster.state.tasks[upid]
    if task.is_running:
        job = Job(cluster, task)
        WORKS[task.work].abort(job)
        job.log("received interrupt")
        _end(job, "unexpected status")


def overrule(job: Job, task_type: str) -> None:
    """Kill workers of a type that are about the same thing."""
    waiting = [
        task.upid
        for task in job.cluster.state.tasks.values()
        if task.is_running and task.type == task_type and task.id == job.task.id
    ]
    for upid in waiting:
        stop(job.cluster, upid)
    if waiting:
        job.log(f"overruled {task_type} tasks: {', '.join(waiting)}")


def power_lost(cluster: Cluster, host: Host) -> None:
    """The host lost its power: nothing of its workers goes on, and nothing is cleaned up."""
    for task in cluster.state.tasks.values():
        if task.node == host.name and task.is_running:
            task.ended_at = cluster.now
            task.exit_status = "unexpected status"
            WORKS[task.work].power_lost(Job(cluster, task))


def _begin(job: Job) -> None:
    task = job.task
    fault = job.cluster.fault(
        Point.TASK,
        {
            "node": task.node,
            "type": task.type,
            "id": task.id,
            "vmid": task.id if task.id.isdigit() else "",
            "user": task.user,
        },
    )
    work = WORKS[task.work]
    if fault is not None and fault.effect is Effect.FAIL:
        _fail(job, ApiError(500, fault.message or "command failed: got timeout"))
        return
    if fault is not None and fault.effect is Effect.DELAY:
        task.arguments["_delay"] = fault.seconds  # for work that ends by itself
    try:
        seconds = work.begin(job)
    except ApiError as error:
        _fail(job, error)
        return
    if fault is not None:
        seconds = _bent(job, fault, seconds)
    _go_on(job, seconds)


def _go_on(job: Job, seconds: float) -> None:
    if seconds < 0:
        return  # it ends by itself, when what it waits for has come
    job.cluster.around.timeline.after(
        seconds, FINISH, {"cluster": job.cluster.name, "upid": job.task.upid}
    )


def _bent(job: Job, fault: Fault, seconds: float) -> float:
    match fault.effect:
        case Effect.DELAY if seconds >= 0:
            WORKS[job.task.work].stretched(job, fault.seconds)
            return seconds + fault.seconds
        case Effect.HANG:
            WORKS[job.task.work].stretched(job, _FOR_GOOD)
            job.task.hangs = True
        case Effect.CLAIM | Effect.DO_THEN_FAIL:
            job.task.arguments["_claimed"] = fault.effect.value
            job.task.arguments["_message"] = fault.message or "command failed: got timeout"
        case Effect.KILL:
            there = {"cluster": job.cluster.name, "host": job.task.node}
            job.cluster.around.timeline.after(fault.seconds, POWER_LOST, there)
        case _:
            pass
    return seconds


def _fail(job: Job, error: ApiError) -> None:
    WORKS[job.task.work].abort(job)
    _end(job, _said(error))


def _said(error: ApiError) -> str:
    """The text of an error on one line, as the list of tasks shows it."""
    if not error.errors:
        return " ".join(error.message.split("\n")).strip()
    details = " ".join(f"{name}: {text}" for name, text in error.errors.items())
    return " ".join(f"{error.status} {error.message} {details}".split("\n")).strip()


def _end(job: Job, status: str) -> None:
    task = job.task
    warnings = sum(line.startswith("WARN:") for line in task.log)
    if status == "OK" and warnings:
        status = f"WARNINGS: {warnings}"
    task.exit_status = status
    task.ended_at = job.cluster.now
    if status == "OK" or status.startswith("WARNINGS: "):
        task.log.append(f"TASK {status}")
    else:
        task.log.append(f"TASK ERROR: {status}")
    WORKS[task.work].ended(job)


def _forget_old(cluster: Cluster) -> None:
    tasks = cluster.state.tasks
    if len(tasks) > 2 * _KEPT:
        ended = [upid for upid, task in tasks.items() if not task.is_running]
        for upid in ended[:_KEPT]:
            del tasks[upid]
