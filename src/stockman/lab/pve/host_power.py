"""Hosts that lose their power, and get it back."""

from __future__ import annotations

from stockman.lab.pve import workers
from stockman.lab.pve.cluster import Cluster
from stockman.lab.pve.host import Host


def lose_power(cluster: Cluster, host: Host) -> None:
    """Switch a host off at once, with everything that runs on it."""
    host.has_power = False
    workers.power_lost(cluster, host)
    for guest in cluster.guests_on(host.name):
        if guest.is_running:
            guest.status = "stopped"
            guest.paused = False
            guest.inside = {}
            guest.pid = 0
        guest.changed_at = cluster.now


def give_power(cluster: Cluster, host: Host) -> None:
    """Switch a host on again; its guests stay off."""
    host.has_power = True
    host.booted_at = cluster.now
