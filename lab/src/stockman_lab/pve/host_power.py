"""Hosts that lose their power, get it back, and are switched off and on, with all their guests."""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.core.timeline import Arguments
from stockman_lab.pve import guest_power, ha_manager, workers
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.lists import Startup, parse_startup
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import Host
from stockman_lab.pve.workers import Job, Work, register

GO_ON = "pve.bulk.go-on"
_TURN = 1.0
_LAST = 1 << 30
_SHUTDOWN_SECONDS = 180


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
    job.cluster.around.timeline.after(_TURN, GO_ON, arguments)


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
    timeout = _startup(guest).down or _SHUTDOWN_SECONDS
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


GOES_DOWN = "pve.host.goes-down"
COMES_UP = "pve.host.comes-up"
IS_UP = "pve.host.is-up"
_PATIENCE = 180
"""Seconds that a guest gets to shut down."""
_GRACE = 200.0
"""Seconds after which a host goes down whatever its guests do."""
_POLL = 2.0
_BOOT = (60.0, 120.0)
_SERVICES = 10.0
"""Seconds from the first answer of a host to the start of its guests."""


def lose_power(cluster: Cluster, host: Host) -> None:
    """Switch a host off at once, with everything that runs on it."""
    host.has_power = False
    workers.power_lost(cluster, host)
    for guest in cluster.guests_on(host.name):
        if guest.is_running:
            if guest.kind == "qemu":
                cluster.around.systems.lost_power(guest.inside, cluster.now)
            guest.status = "stopped"
            guest.paused = False
            guest.inside = {}
            guest.pid = 0
        guest.changed_at = cluster.now
    ha_manager.host_lost(cluster, host.name)


def power_lost(cluster: Cluster, arguments: Arguments) -> None:
    """The event that a host loses its power."""
    host = cluster.state.hosts[str(arguments["host"])]
    if host.has_power:
        lose_power(cluster, host)


def give_power(cluster: Cluster, host: Host) -> None:
    """Switch a host on again; guests that start with their host do so a little later."""
    host.has_power = True
    host.booted_at = cluster.now
    arguments = {"cluster": cluster.name, "host": host.name}
    cluster.around.timeline.after(_SERVICES, IS_UP, arguments)


def request(cluster: Cluster, host: Host, *, reboot: bool) -> None:
    """Shut a host down in order, with its guests; after a reboot it comes back."""
    stop_all(cluster, host, ROOT)
    for guest in cluster.guests_on(host.name):
        if guest.is_running and ha_manager.is_managed(cluster, guest):
            guest_power.shut_down(cluster, guest, _PATIENCE)
    arguments = {
        "cluster": cluster.name,
        "host": host.name,
        "reboot": reboot,
        "until": cluster.now + _GRACE,
    }
    cluster.around.timeline.after(_POLL, GOES_DOWN, arguments)


def go_down(cluster: Cluster, arguments: Arguments) -> None:
    """Switch a host off once its guests are off, or had their time."""
    host = cluster.state.hosts[str(arguments["host"])]
    if not host.has_power:
        return
    waits = any(guest.is_running for guest in cluster.guests_on(host.name))
    if waits and cluster.now < float(str(arguments["until"])):
        cluster.around.timeline.after(_POLL, GOES_DOWN, arguments)
        return
    lose_power(cluster, host)
    if arguments["reboot"]:
        seconds = cluster.around.dice.between(*_BOOT)
        there = {"cluster": cluster.name, "host": host.name}
        cluster.around.timeline.after(seconds, COMES_UP, there)


def come_up(cluster: Cluster, arguments: Arguments) -> None:
    host = cluster.state.hosts[str(arguments["host"])]
    if not host.has_power:
        give_power(cluster, host)


def is_up(cluster: Cluster, arguments: Arguments) -> None:
    """Services of a host are there: guests that start with it are started."""
    host = cluster.state.hosts[str(arguments["host"])]
    if host.has_power:
        start_all(cluster, host, ROOT)
        ha_manager.wake(cluster)
