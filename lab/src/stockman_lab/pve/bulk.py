"""All guests of a host at once: started and shut down in the order that they ask for."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.core.timeline import Arguments
from stockman_lab.pve import guest_power, ha_manager, workers
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.lists import Startup, parse_startup
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host
from stockman_lab.pve.workers import Job, Work, register

GO_ON = "pve.bulk.go-on"
_POLL = 1.0
_LAST = 1 << 30
_TIMEOUT = 180


def start_all(cluster: Cluster, host: Host, user: str) -> str:
    """Start the guests of a host that start with it; returns the UPID of the worker."""
    guests = [
        guest
        for guest in _own_guests(cluster, host)
        if guest.config.values.get("onboot", "0") == "1"
    ]
    asked = _bulk_task("startall", user, sorted(guests, key=_place))
    return workers.start(cluster, host, asked)


def stop_all(cluster: Cluster, host: Host, user: str) -> str:
    """Shut the guests of a host down, the last first; returns the UPID of the worker."""
    guests = [guest for guest in _own_guests(cluster, host) if guest.is_running]
    last_first = sorted(guests, key=_place, reverse=True)
    return workers.start(cluster, host, _bulk_task("stopall", user, last_first))


def go_on(cluster: Cluster, arguments: Arguments) -> None:
    """Look after a worker: give the next guest its turn, or end it."""
    task = cluster.state.tasks.get(str(arguments["upid"]))
    if task is None or not task.is_running:
        return
    job = Job(cluster, task)
    if not _next_turn(job):
        workers.finish(cluster, task.upid)
        return
    _plan(job)


@register
class AllAtOnce(Work):
    """One worker after another, with an order among them."""

    name: ClassVar[str] = "host.bulk"

    def begin(self, job: Job) -> float:
        _plan(job)
        return -1.0


def _bulk_task(what: str, user: str, guests: list[Guest]) -> workers.Asked:
    arguments: dict[str, object] = {
        "what": what,
        "waiting": [guest.vmid for guest in guests],
        "running": [],
    }
    return workers.Asked(what, "", user, AllAtOnce.name, arguments)


def _plan(job: Job) -> None:
    arguments = {"cluster": job.cluster.name, "upid": job.task.upid}
    job.cluster.around.timeline.after(_POLL, GO_ON, arguments)


def _next_turn(job: Job) -> bool:
    """Whether there is still something to do or to wait for."""
    tasks = job.cluster.state.tasks
    running = [upid for upid in _texts(job, "running") if upid in tasks and tasks[upid].is_running]
    waiting = _texts(job, "waiting")
    job.arguments["running"] = running
    if not waiting:
        return bool(running)
    order = _order(job, waiting[0])
    if running and job.arguments.get("order", order) != order:
        return True
    job.arguments["order"] = order
    job.arguments["waiting"] = waiting[1:]
    guest = job.cluster.state.guests.get(int(waiting[0]))
    upid = _treat(job, guest) if guest is not None and guest.node == job.task.node else ""
    if upid:
        running.append(upid)
    return True


def _treat(job: Job, guest: Guest) -> str:
    word = "VM" if guest.kind == "qemu" else "CT"
    if job.text("what") == "startall":
        if guest.is_running or guest.is_template:
            return ""
        job.log(f"Starting {word} {guest.vmid}")
        return guest_power.start(job.cluster, guest, job.task.user)
    if not guest.is_running:
        return ""
    timeout = _startup(guest).down or _TIMEOUT
    job.log(f"Stopping {word} {guest.vmid} (timeout = {timeout} seconds)")
    return guest_power.shut_down(job.cluster, guest, timeout, job.task.user)


def _order(job: Job, vmid: str) -> int:
    guest = job.cluster.state.guests.get(int(vmid))
    return _place(guest)[0] if guest is not None else _LAST


def _texts(job: Job, name: str) -> list[str]:
    argument = job.arguments.get(name)
    return [str(one) for one in argument] if isinstance(argument, list) else []


def _own_guests(cluster: Cluster, host: Host) -> list[Guest]:
    """Guests of a host that are not managed by HA."""
    return [
        guest
        for guest in cluster.guests_on(host.name)
        if not guest.is_template and not ha_manager.is_managed(cluster, guest)
    ]


def _place(guest: Guest) -> tuple[int, int]:
    order = _startup(guest).order
    return (_LAST if order is None else order, guest.vmid)


def _startup(guest: Guest) -> Startup:
    text = guest.config.values.get("startup", "")
    return parse_startup(text) if text else Startup()
