"""Ids of guests: taken for a new one, and let go."""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.host import Host


def refuse_taken(cluster: Cluster, vmid: int, what: str = "") -> None:
    """Refuse an id that a guest has already; `what` was to be done comes first in the text."""
    taken = cluster.state.guests.get(vmid)
    if taken is not None:
        kind = "VM" if taken.kind == "qemu" else "CT"
        raise die(f"{what}{kind} {vmid} already exists on node '{taken.node}'")


def reserve(cluster: Cluster, host: Host, vmid: int, kind: str) -> Guest:
    """Take an id for a new guest, which is locked until it is made."""
    refuse_taken(cluster, vmid, f"unable to create VM {vmid} - " if kind == "qemu" else "")
    guest = Guest(vmid, kind, host.name, GuestConfig(values={"lock": "create"}))
    guest.changed_at = cluster.now
    cluster.state.guests[vmid] = guest
    cluster.changed()
    return guest


def forget(cluster: Cluster, vmid: int) -> None:
    """Let an id go."""
    cluster.state.guest_firewalls.pop(vmid, None)
    if cluster.state.guests.pop(vmid, None) is not None:
        cluster.changed()
