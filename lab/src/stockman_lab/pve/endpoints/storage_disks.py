"""`/nodes/NODE/disks`: disks of a host."""

from __future__ import annotations

from stockman_lab.pve.api.call import Call
from stockman_lab.pve.api.registry import endpoint
from stockman_lab.pve.errors import die
from stockman_lab.pve.storages.disk_works import INIT_DISK, WIPE_DISK
from stockman_lab.pve.storages.host_disks import disk_at, disk_row, is_mounted, smart_data


@endpoint("GET", "/nodes/{node}/disks")
def index(call: Call) -> object:
    del call
    names = ("list", "initgpt", "smart", "lvm", "lvmthin", "directory", "wipedisk", "zfs")
    return [{"name": name} for name in names]


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


@endpoint("GET", "/nodes/{node}/disks/smart")
def smart(call: Call) -> object:
    disk = disk_at(call.node, call.text("disk"))
    return {"health": disk.health} if call.flag("healthonly") else smart_data(disk)


@endpoint("PUT", "/nodes/{node}/disks/wipedisk")
def wipe(call: Call) -> object:
    disk = disk_at(call.node, call.text("disk"))
    if is_mounted(disk):
        raise die(f"disk/partition '{disk.devpath}' is mounted")
    if disk.used == "LVM":
        raise die(f"disk/partition '{disk.devpath}' has a holder")
    name = disk.devpath.rpartition("/")[2]
    return call.start("wipedisk", name, WIPE_DISK, {"disk": disk.devpath})


@endpoint("POST", "/nodes/{node}/disks/initgpt")
def initialise(call: Call) -> object:
    disk = disk_at(call.node, call.text("disk"))
    if disk.used:
        raise die(f"disk {disk.devpath} already in use")
    name = disk.devpath.rpartition("/")[2]
    return call.start("diskinit", name, INIT_DISK, {"disk": disk.devpath})
