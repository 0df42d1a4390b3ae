"""The manager of high availability: it makes guests what their resources ask for.

The real one looks every ten seconds. Here it looks when something happened that it would see, and
then starts workers in the name of root.
"""

from __future__ import annotations

from typing import ClassVar

from stockman_lab.core.timeline import Arguments
from stockman_lab.pve import guest_power
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.ha.placement import (
    best_host,
    desired_state,
    guest_of,
    is_movable,
    name_of,
    priorities,
)
from stockman_lab.pve.workers import Job, Work, register

ACT = "pve.ha.act"
LOOK = "pve.ha.look"
FENCE = "pve.ha.fence"
_REACTION = (4.0, 10.0)
_FENCING = 120.0
"""Seconds until a lost host counts as off for sure."""
_SHUTDOWN = 60


def resource_of(cluster: Cluster, guest: Guest) -> Section | None:
    """The resource that stands for a guest. None: it is not managed."""
    return cluster.state.ha_resources.get(name_of(guest))


def is_managed(cluster: Cluster, guest: Guest) -> bool:
    """Whether the manager decides about a guest's power."""
    section = resource_of(cluster, guest)
    return section is not None and desired_state(section) != "ignored"


def notice(
    cluster: Cluster,
    vmid: int,
    *,
    target: str = "",
    timeout: int = _SHUTDOWN,
    relocate: bool = False,
) -> None:
    """Let the manager look at a guest in a few seconds, and bring it to another host if asked.

    To relocate is to stop it first, and to start it there.
    """
    arguments = {
        "cluster": cluster.name,
        "vmid": vmid,
        "target": target,
        "timeout": timeout,
        "relocate": relocate,
    }
    cluster.around.timeline.after(cluster.around.dice.between(*_REACTION), ACT, arguments)


def wake(cluster: Cluster) -> None:
    """Let the manager look at everything in a few seconds."""
    if cluster.state.ha_resources:
        seconds = cluster.around.dice.between(*_REACTION)
        cluster.around.timeline.after(seconds, LOOK, {"cluster": cluster.name})


def host_lost(cluster: Cluster, host: str) -> None:
    """A host was lost: what ran there is recovered once it is off for sure."""
    if cluster.state.ha_resources:
        arguments = {"cluster": cluster.name, "host": host}
        cluster.around.timeline.after(_FENCING, FENCE, arguments)


def act(cluster: Cluster, arguments: Arguments) -> None:
    """Do what is needed so that a guest is where and what its resource asks for."""
    guest = cluster.state.guests.get(int(str(arguments["vmid"])))
    section = resource_of(cluster, guest) if guest is not None else None
    if guest is None or section is None or not _may_act(cluster, guest):
        return
    target, timeout = str(arguments["target"]), int(str(arguments["timeout"]))
    if not target or target == guest.node:
        _enforce(cluster, guest, section, timeout)
    elif _is_there(cluster, target):
        _move(cluster, guest, target, arguments)


def look(cluster: Cluster, arguments: Arguments) -> None:
    """Start, stop and move what is not as it is wanted."""
    del arguments
    for sid, section in sorted(cluster.state.ha_resources.items()):
        guest = guest_of(cluster, sid)
        if guest is not None and _may_act(cluster, guest):
            _enforce(cluster, guest, section, _SHUTDOWN)


def recover(cluster: Cluster, arguments: Arguments) -> None:
    """Bring guests of a lost host to others; those with local volumes stay where they are."""
    host = cluster.state.hosts[str(arguments["host"])]
    if host.has_power or not cluster.is_quorate:
        return
    for sid, section in sorted(cluster.state.ha_resources.items()):
        guest = guest_of(cluster, sid)
        if guest is None or guest.node != host.name or desired_state(section) == "ignored":
            continue
        target = best_host(cluster, guest, avoid=host.name)
        if target and is_movable(cluster, guest):
            _place(cluster, guest, target)
    wake(cluster)


def _may_act(cluster: Cluster, guest: Guest) -> bool:
    return cluster.is_quorate and cluster.state.hosts[guest.node].has_power


def _is_there(cluster: Cluster, name: str) -> bool:
    return name in cluster.state.hosts and cluster.state.hosts[name].has_power


def _move(cluster: Cluster, guest: Guest, target: str, arguments: Arguments) -> None:
    if arguments.get("relocate") and guest.is_running:
        if guest_power.shut_down(cluster, guest, _SHUTDOWN):
            later = {**arguments, "relocate": False}
            cluster.around.timeline.after(_SHUTDOWN, ACT, later)
        return
    guest_power.migrate(cluster, guest, target)
    if not guest.is_running:
        wake(cluster)


def _enforce(cluster: Cluster, guest: Guest, section: Section, timeout: int) -> None:
    if guest.is_template or guest.lock:
        return
    state = desired_state(section)
    if state == "started" and not guest.is_running:
        guest_power.start(cluster, guest)
    elif state in ("stopped", "disabled") and guest.is_running:
        guest_power.shut_down(cluster, guest, timeout or _SHUTDOWN)
    elif state == "started":
        _prefer(cluster, guest, section)


def _prefer(cluster: Cluster, guest: Guest, section: Section) -> None:
    """Bring a running guest to a host that it should rather be on."""
    wanted = priorities(cluster, section.id)
    better = best_host(cluster, guest)
    here = wanted.get(guest.node)
    if not better or better == guest.node:
        return
    if here is None or (wanted[better] > here and _fails_back(cluster, section)):
        guest_power.migrate(cluster, guest, better)


def _fails_back(cluster: Cluster, section: Section) -> bool:
    group = cluster.state.ha_groups.get(section.options.get("group", ""))
    if group is not None and group.options.get("nofailback") == "1":
        return False
    return section.options.get("failback", "1") == "1"


def _place(cluster: Cluster, guest: Guest, target: str) -> None:
    """Move the configuration of a guest that nothing runs of any more."""
    guest.node = target
    guest.changed_at = cluster.now
    guest.busy_until = 0.0
    guest.config.values.pop("lock", None)
    cluster.changed()


_REQUEST_SECONDS = (0.5, 1.0)
_REQUEST_TIMEOUT = 60


class _Request(Work):
    state: ClassVar[str] = ""
    """The desired state. Empty: it stays as it is."""
    line: ClassVar[str]

    def begin(self, job: Job) -> float:
        return job.cluster.around.dice.between(*_REQUEST_SECONDS)

    def finish(self, job: Job) -> None:
        cluster, vmid, target = job.cluster, job.number("vmid"), job.text("target")
        guest = cluster.state.guests.get(vmid)
        section = None if guest is None else resource_of(cluster, guest)
        if guest is None or section is None:
            raise die(f"no such resource '{vmid if guest is None else name_of(guest)}'")
        word = "VM" if guest.kind == "qemu" else "CT"
        job.log(self.line.format(guest=f"{word} {vmid}", target=target))
        if self.state:
            section.options["state"] = self.state
            cluster.changed()
        timeout = job.number("timeout") if "timeout" in job.arguments else _REQUEST_TIMEOUT
        notice(cluster, vmid, target=target, timeout=timeout)


@register
class HaStart(_Request):
    """Desires a guest that runs."""

    name: ClassVar[str] = "ha.start"
    state: ClassVar[str] = "started"
    line: ClassVar[str] = "Requesting HA start for {guest}"


@register
class HaStop(_Request):
    """Desires a guest that does not run."""

    name: ClassVar[str] = "ha.stop"
    state: ClassVar[str] = "stopped"
    line: ClassVar[str] = "Requesting HA stop for {guest}"


@register
class HaMigrate(_Request):
    """Desires a guest on another host."""

    name: ClassVar[str] = "ha.migrate"
    line: ClassVar[str] = "Requesting HA migration for {guest} to node {target}"
