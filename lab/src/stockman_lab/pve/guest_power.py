"""Guests that the cluster itself switches on and off, or moves: workers of nobody's request."""

from __future__ import annotations

from collections.abc import Mapping

from stockman_lab.pve import workers
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest

_TASKS = {
    ("qemu", "start"): "qmstart",
    ("qemu", "shutdown"): "qmshutdown",
    ("qemu", "migrate"): "qmigrate",
    ("lxc", "start"): "vzstart",
    ("lxc", "shutdown"): "vzshutdown",
    ("lxc", "migrate"): "vzmigrate",
}


def start(cluster: Cluster, guest: Guest, user: str = ROOT) -> str:
    """Start a guest; returns the UPID of the worker."""
    return _run(cluster, guest, "start", {}, user)


def shut_down(cluster: Cluster, guest: Guest, timeout: int, user: str = ROOT) -> str:
    """Shut a guest down, and take its power when it does not obey; returns the worker's UPID."""
    return _run(cluster, guest, "shutdown", {"timeout": timeout, "forceStop": 1}, user)


def migrate(cluster: Cluster, guest: Guest, target: str) -> str:
    """Move a guest, running or not; returns the UPID of the worker."""
    arguments = {
        "target": target,
        "restart" if guest.kind == "lxc" else "online": int(guest.is_running),
        "by_ha": 1,
        "force": 1,
        "with-local-disks": 1,
    }
    return _run(cluster, guest, "migrate", arguments, ROOT)


def _run(
    cluster: Cluster, guest: Guest, action: str, arguments: Mapping[str, object], user: str
) -> str:
    """Empty where nobody knows how to do that with this kind of guest."""
    work = f"{guest.kind}.{action}"
    if work not in workers.WORKS:
        return ""
    asked = workers.Asked(
        type=_TASKS[guest.kind, action],
        id=str(guest.vmid),
        user=user,
        work=work,
        arguments={"vmid": guest.vmid, **arguments},
    )
    return workers.start(cluster, cluster.state.hosts[guest.node], asked)
