"""Rows about containers: in the list of a host, and on a container's own page."""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.sizes import GIB, MIB
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_rows import (
    container_cpus,
    disk_of,
    memory_of,
    uptime_of,
    used_memory_of,
)
from stockman_lab.pve.ha_manager import resource_of

_DEFAULT_DISK = 4 * GIB
_USED_SHARE = 0.1
"""Of its root that a running container uses."""
_PRESSURES = (*("cpusome", "cpufull", "iosome", "iofull", "memorysome", "memoryfull"),)


def list_row(cluster: Cluster, guest: Guest) -> dict[str, object]:
    """A container in the list of its host."""
    values = guest.config.values
    running = guest.is_running
    size = disk_of(cluster, guest) or _DEFAULT_DISK
    row: dict[str, object] = {
        "vmid": guest.vmid,
        "type": "lxc",
        "status": guest.status,
        "name": guest.name,
        "cpus": container_cpus(cluster, guest),
        "cpu": 0.01 if running else 0,
        "mem": used_memory_of(guest),
        "maxmem": memory_of(guest),
        "swap": 0,
        "maxswap": int(values.get("swap", "0")) * MIB,
        "disk": int(size * _USED_SHARE) if running else 0,
        "maxdisk": size,
        "diskread": 0,
        "diskwrite": 0,
        "netin": 0,
        "netout": 0,
        "uptime": uptime_of(cluster, guest),
    }
    if guest.is_template:
        row["template"] = 1
    for key in ("lock", "tags"):
        if values.get(key):
            row[key] = values[key]
    if running:
        row["pid"] = guest.pid
        if cluster.is_nine:
            row |= {f"pressure{name}": 0 for name in _PRESSURES}
    return row


def status_row(cluster: Cluster, guest: Guest) -> dict[str, object]:
    """Everything about a container as it is now."""
    section = resource_of(cluster, guest)
    ha: dict[str, object] = {"managed": 0}
    if section is not None:
        ha = {"managed": 1, "state": section.options.get("state", "started")}
    return {**list_row(cluster, guest), "ha": ha}
