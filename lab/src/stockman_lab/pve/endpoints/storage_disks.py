"""`/nodes/NODE/disks`: disks of a host."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.storages.host_disks import WIPE_DISK, disk_at, disk_row, is_mounted


@endpoint("GET", "/nodes/{node}/disks/list")
def disks(call: Call) -> object:
    kind = call.text("type")
    return [
        disk_row(disk, skip_health=call.flag("skipsmart"))
        for disk in sorted(call.node.disks, key=lambda one: one.devpath)
        if kind == ""
        or not disk.used
        or (kind == "journal_disks" and disk.used in ("partitions", "LVM"))
    ]


@endpoint("PUT", "/nodes/{node}/disks/wipedisk")
def wipe(call: Call) -> object:
    disk = disk_at(call.node, call.text("disk"))
    if is_mounted(disk):
        raise die(f"disk/partition '{disk.devpath}' is mounted")
    if disk.used == "LVM":
        raise die(f"disk/partition '{disk.devpath}' has a holder")
    name = disk.devpath.rpartition("/")[2]
    return call.start("wipedisk", name, WIPE_DISK, {"disk": disk.devpath})
