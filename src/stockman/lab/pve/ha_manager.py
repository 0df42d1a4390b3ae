"""The manager of high availability: it makes guests what their resources ask for.

It is told of a wish, takes its seconds, and then starts workers in the name of root.
"""

from __future__ import annotations

from stockman.lab.core.timeline import Arguments
from stockman.lab.pve import workers
from stockman.lab.pve.access.state import ROOT
from stockman.lab.pve.cluster import Cluster
from stockman.lab.pve.cluster_state import Section
from stockman.lab.pve.guest import Guest

ACT = "pve.ha.act"
_REACTION = (4.0, 10.0)
_WORKS = {
    "qemu": {
        "start": ("qmstart", "qemu.start"),
        "stop": ("qmshutdown", "qemu.shutdown"),
        "migrate": ("qmigrate", "qemu.migrate"),
    },
    "lxc": {
        "start": ("vzstart", "lxc.start"),
        "stop": ("vzshutdown", "lxc.shutdown"),
        "migrate": ("vzmigrate", "lxc.migrate"),
    },
}


def resource_of(cluster: Cluster, guest: Guest) -> Section | None:
    """The resource that stands for a guest. None: it is not managed."""
    prefix = "vm" if guest.kind == "qemu" else "ct"
    return cluster.state.ha_resources.get(f"{prefix}:{guest.vmid}")


def is_managed(cluster: Cluster, guest: Guest) -> bool:
    """Whether the manager decides about a guest's power."""
    section = resource_of(cluster, guest)
    return section is not None and section.options.get("state", "started") != "ignored"


def notice(cluster: Cluster, vmid: int, *, target: str = "", timeout: int = 60) -> None:
    """Let the manager look at a guest in a few seconds, and bring it to another host if asked."""
    seconds = cluster.around.dice.between(*_REACTION)
    arguments = {"cluster": cluster.name, "vmid": vmid, "target": target, "timeout": timeout}
    cluster.around.timeline.after(seconds, ACT, arguments)


def act(cluster: Cluster, arguments: Arguments) -> None:
    """Do what is needed so that a guest is where and what its resource asks for."""
    guest = cluster.state.guests.get(int(str(arguments["vmid"])))
    target, timeout = str(arguments["target"]), int(str(arguments["timeout"]))
    section = resource_of(cluster, guest) if guest is not None else None
    if guest is None or section is None or not cluster.is_quorate:
        return
    if not cluster.state.hosts[guest.node].has_power:
        return
    wanted = section.options.get("state", "started")
    if target and target != guest.node:
        _start(cluster, guest, "migrate", {"target": target, "online": int(guest.is_running)})
    elif wanted in ("started", "enabled") and not guest.is_running:
        _start(cluster, guest, "start", {})
    elif wanted in ("stopped", "disabled") and guest.is_running:
        _start(cluster, guest, "stop", {"timeout": timeout, "forceStop": 1})


def _start(cluster: Cluster, guest: Guest, what: str, more: dict[str, object]) -> None:
    task_type, work = _WORKS[guest.kind][what]
    if work not in workers.WORKS:
        return
    asked = workers.Asked(
        task_type, str(guest.vmid), ROOT, work, {"vmid": guest.vmid, "by_ha": 1, **more}
    )
    workers.start(cluster, cluster.state.hosts[guest.node], asked)
