"""What the manager of high availability says about itself, hosts and resources."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.ha.names import guest_of, wanted_state
from stockman_lab.pve.host import Host

_DEAD = "old timestamp - dead?"


def master_of(cluster: Cluster) -> str:
    """The host whose manager leads. Empty: nobody has anything to manage."""
    if not cluster.state.ha_resources:
        return ""
    return min((host.name for host in cluster.hosts_with_power()), default="")


def local_time(seconds: float) -> str:
    """A moment as the C library prints it."""
    moment = datetime.fromtimestamp(int(seconds), tz=UTC)
    return f"{moment:%a %b} {moment.day:2} {moment:%H:%M:%S %Y}"


def crm_state(cluster: Cluster, section: Section) -> str:
    """What the manager does with a resource."""
    guest = guest_of(cluster, section.id)
    if guest is None:
        return "stopped"
    if not cluster.state.hosts[guest.node].has_power:
        return "fence"
    if cluster.state.ha_disarmed == "freeze":
        return "freeze"
    return "started" if wanted_state(section) == "started" else "stopped"


def shown_state(cluster: Cluster, section: Section) -> str:
    """The state of a resource, as people read it."""
    wanted, guest = wanted_state(section), guest_of(cluster, section.id)
    if wanted == "ignored" or cluster.state.ha_disarmed == "ignore":
        return "ignored" if wanted == "ignored" else "ignore"
    if guest is None:
        return "not found"
    current = crm_state(cluster, section)
    if current == "started" and not guest.is_running:
        return "starting"
    if current == "stopped" and guest.is_running:
        return "stopping"
    return "disabled" if current == "stopped" and wanted == "disabled" else current


def is_busy(cluster: Cluster, host: Host) -> bool:
    """Whether a host has resources to look after."""
    return any(
        guest.node == host.name and wanted_state(section) not in ("stopped", "disabled", "ignored")
        for sid, section in cluster.state.ha_resources.items()
        if (guest := guest_of(cluster, sid)) is not None
    )


def watcher_text(cluster: Cluster, host: Host) -> str:
    """What is said of the local manager of a host."""
    when = local_time(cluster.now if host.has_power else cluster.now - 60)
    mode, watchdog = _watcher(cluster, host)
    inner = f"{mode}, {watchdog}" if cluster.is_nine else mode
    return f"{host.name} ({inner}, {when})"


def _watcher(cluster: Cluster, host: Host) -> tuple[str, str]:
    if not host.has_power:
        return _DEAD, "watchdog standby"
    if cluster.state.ha_disarmed:
        return "disarm mode", "watchdog released"
    return ("active", "watchdog active") if is_busy(cluster, host) else ("idle", "watchdog standby")
