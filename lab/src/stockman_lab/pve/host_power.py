"""Hosts that lose their power, get it back, and are switched off and on by request."""

from __future__ import annotations

from stockman_lab.core.timeline import Arguments
from stockman_lab.pve import bulk, guest_power, ha_manager, workers
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.host import Host

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
    bulk.stop_all(cluster, host, ROOT)
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
        bulk.start_all(cluster, host, ROOT)
        ha_manager.wake(cluster)
