"""Rows and figures of guests and hosts: what lists and status pages show."""

from __future__ import annotations

from stockman_lab.core.faults import Point
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.host import GIB, Host
from stockman_lab.pve.storage import Storage

MIB = 1 << 20
PVESTATD_SECONDS = 10.0
"""Seconds between the rounds of pvestatd (`$updatetime` in PVE/Service/pvestatd.pm)."""
_IDLE_SHARE = 0.35
"""Of its memory that a running guest uses."""


def container_cpus(cluster: Cluster, guest: Guest) -> int | float:
    """Processors that a container may use: all of its host where nothing is said."""
    values = guest.config.values
    limit = float(values.get("cpulimit", "0"))
    exact = int(limit) if limit.is_integer() else limit
    return int(values.get("cores", "0")) or exact or cluster.state.hosts[guest.node].cpus


def cpus_of(guest: Guest) -> int:
    """Virtual processors of a machine."""
    values = guest.config.values
    return int(values.get("vcpus") or 0) or int(values.get("sockets", "1")) * int(
        values.get("cores", "1")
    )


def memory_of(guest: Guest) -> int:
    """Bytes of memory that it may use."""
    text = guest.config.values.get("memory", "512").removeprefix("current=").split(",")[0]
    return int(text) * MIB


def used_memory_of(guest: Guest) -> int:
    return int(memory_of(guest) * _IDLE_SHARE) if guest.is_running else 0


def uptime_of(cluster: Cluster, guest: Guest) -> int:
    return int(cluster.now - guest.started_at) if guest.is_running else 0


def disk_of(cluster: Cluster, guest: Guest) -> int:
    """Bytes of its first disk."""
    from stockman_lab.pve.formats.sizes import parse_size

    values = guest.config.values
    order = ("rootfs",) if guest.kind == "lxc" else _boot_disks(values)
    for key in order:
        for part in values.get(key, "").split(","):
            if part.startswith("size="):
                return parse_size(part.removeprefix("size="))
    del cluster
    return 0


def _boot_disks(values: dict[str, str]) -> tuple[str, ...]:
    boot = values.get("boot", "")
    named = tuple(boot.removeprefix("order=").split(";")) if boot.startswith("order=") else ()
    return (*named, "scsi0", "virtio0", "sata0", "ide0")


def resource_row(cluster: Cluster, guest: Guest, *, may_see_pool: bool) -> dict[str, object]:
    """The row of /cluster/resources.

    Most of it is what pvestatd of its host wrote in its last round (`extract_vm_stats` in
    PVE/API2Tools.pm); tags, lock and high availability are read at once (PVE/API2/Cluster.pm).
    """
    row: dict[str, object] = {
        "id": f"{guest.kind}/{guest.vmid}",
        "vmid": guest.vmid,
        "type": guest.kind,
        "node": guest.node,
        "status": "unknown",
    }
    if guest.lock:
        row["lock"] = guest.lock
    tags = guest.config.values.get("tags")
    if tags:
        row["tags"] = tags
    ha = _ha_state(cluster, guest)
    if ha:
        row["hastate"] = ha
    pool = cluster.pool_of(guest.vmid)
    if pool and may_see_pool:
        row["pool"] = pool
    return row | _reported(cluster, guest)


def note_rounds(cluster: Cluster, guest: Guest) -> None:
    """Keep what pvestatd wrote about a guest, before the guest changes."""
    host = cluster.state.hosts[guest.node]
    if host.has_power and guest.changed_at <= _last_round(cluster):
        guest.reported = _report(cluster, guest)


def _reported(cluster: Cluster, guest: Guest) -> dict[str, object]:
    host = cluster.state.hosts[guest.node]
    if not host.has_power:
        return {}
    note_rounds(cluster, guest)
    return guest.reported


def _last_round(cluster: Cluster) -> float:
    """When pvestatd wrote its figures last."""
    late = cluster.fault_lasts(Point.RESOURCES, {})
    interval = late.seconds if late is not None else PVESTATD_SECONDS
    return cluster.now // interval * interval


def _report(cluster: Cluster, guest: Guest) -> dict[str, object]:
    row = figures(cluster, guest)
    row["maxcpu"] = row.pop("cpus")
    row["name"] = guest.name
    row["template"] = int(guest.is_template)
    row["status"] = guest.halted or ("paused" if guest.paused else guest.status)
    return row


def figures(cluster: Cluster, guest: Guest) -> dict[str, object]:
    """What a guest uses and may use; no fractions but for `cpu`."""
    running = guest.is_running
    memory = used_memory_of(guest)
    row: dict[str, object] = {
        "cpus": container_cpus(cluster, guest) if guest.kind == "lxc" else cpus_of(guest),
        "maxmem": memory_of(guest),
        "maxdisk": disk_of(cluster, guest),
        "disk": 0,
        "uptime": uptime_of(cluster, guest),
        "cpu": 0.01 if running else 0,
        "mem": memory,
        "netin": 0,
        "netout": 0,
        "diskread": 0,
        "diskwrite": 0,
    }
    if cluster.is_nine and guest.kind == "qemu":
        row["memhost"] = memory
    return row


def host_row(cluster: Cluster, host: Host, *, is_seen: bool) -> dict[str, object]:
    """A host in a list; with its figures for who may see them."""
    row: dict[str, object] = {
        "id": f"node/{host.name}",
        "node": host.name,
        "type": "node",
        "status": "online" if host.has_power else "offline",
        "level": "",
    }
    return row | host_figures(cluster, host) if host.has_power and is_seen else row


def host_figures(cluster: Cluster, host: Host) -> dict[str, object]:
    """What a host has and uses."""
    guests = [guest for guest in cluster.state.guests.values() if guest.node == host.name]
    used = 2 * GIB + sum(used_memory_of(guest) for guest in guests)
    root = host.pools.get("fs:/")
    size = root.size if root is not None else 0
    return {
        "uptime": int(cluster.now - host.booted_at),
        "cpu": 0.02,
        "maxcpu": host.cpus,
        "mem": min(used, host.memory),
        "maxmem": host.memory,
        "disk": root.other if root is not None else 0,
        "maxdisk": size,
    }


def storage_content(storage: Storage) -> str:
    """The kinds of content of a storage, as lists show them."""
    return ",".join(sorted(storage.content))


def _ha_state(cluster: Cluster, guest: Guest) -> str:
    prefix = "vm" if guest.kind == "qemu" else "ct"
    section = cluster.state.ha_resources.get(f"{prefix}:{guest.vmid}")
    return section.options.get("state", "started") if section is not None else ""
