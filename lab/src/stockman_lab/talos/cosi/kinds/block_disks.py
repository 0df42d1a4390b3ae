"""Disks, partitions, and what is on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import pretty_size
from stockman_lab.talos.cosi.layout import Partition, partition_name, partitions
from stockman_lab.talos.cosi.registry import Contents, kind
from stockman_lab.talos.disks import names, symlinks_of

if TYPE_CHECKING:
    from stockman_lab.guest.view import DiskView
    from stockman_lab.talos.machine import Machine

_SECTOR = 512
_PCI = "/pci0000:00/0000:00"
_FILESYSTEM_BLOCK = 4096


def system_disk(machine: Machine) -> str:
    """The name of the disk that Talos is on, `sda`. Empty: there is none."""
    return names(machine.view).get(machine.state.system_disk, "")


def _disks(machine: Machine) -> dict[str, DiskView]:
    view = machine.view
    disks = {name: view.disk(slot) for slot, name in names(view).items()}
    return {name: one for name, one in sorted(disks.items()) if one is not None}


def _bus_path(name: str, number: int) -> str:
    if name.startswith("vd"):
        return f"{_PCI}:{10 + number:02x}.0/virtio{number + 2}"
    if name.startswith("sr"):
        return f"{_PCI}:01.1/ata2/host1/target1:0:{number}/1:0:{number}:0"
    return f"{_PCI}:05.0/0000:01:01.0/virtio3/host2/target2:0:0/2:0:0:{number}"


@kind("Disks.block.talos.dev", "block.DisksController")
def disks(machine: Machine) -> Contents:
    contents: dict[str, dict[str, object]] = {}
    for place, (name, disk) in enumerate(_disks(machine).items()):
        is_virtio = name.startswith("vd")
        spec = contents[name] = {
            "dev_path": f"/dev/{name}",
            "size": disk.size,
            "pretty_size": pretty_size(disk.size),
            "io_size": _SECTOR,
            "sector_size": _SECTOR,
            "readonly": disk.is_cdrom,
            "cdrom": disk.is_cdrom,
            "serial": disk.serial,
            "bus_path": _bus_path(name, place),
            "sub_system": "/sys/class/block",
            "transport": "virtio",
            "rotational": not is_virtio and not disk.is_cdrom,
            "symlinks": sorted(symlinks_of(disk)),
        }
        if is_virtio:
            spec["modalias"] = "virtio:d00000002v00001AF4"
        elif disk.is_cdrom:
            spec |= {"model": "QEMU DVD-ROM", "modalias": "scsi:t-0x05", "transport": "ata"}
        else:
            spec |= {"model": "QEMU HARDDISK", "modalias": "scsi:t-0x00"}
            if disk.serial:
                spec["wwid"] = f"t10.QEMU    QEMU HARDDISK   {disk.serial}"
    return contents


@kind("SystemDisks.block.talos.dev", "block.SystemDiskController")
def system_disks(machine: Machine) -> Contents:
    name = system_disk(machine)
    return {"system-disk": {"diskID": name, "devPath": f"/dev/{name}"}} if name else {}


@kind("DiscoveredVolumes.block.talos.dev", "block.DiscoveryController")
def discovered_volumes(machine: Machine) -> Contents:
    own = system_disk(machine)
    contents: dict[str, dict[str, object]] = {}
    for place, (name, disk) in enumerate(_disks(machine).items()):
        path = f"{_bus_path(name, place)}/block/{name}"
        is_own = name == own and bool(partitions(machine))
        contents[name] = {
            "dev_path": f"/dev/{name}",
            "type": "disk",
            "device_path": path,
            "size": disk.size,
            "pretty_size": pretty_size(disk.size),
            "sector_size": _SECTOR,
            "io_size": _SECTOR,
            "name": "gpt" if is_own else ("iso9660" if disk.is_cdrom and disk.size else ""),
        }
        for partition in partitions(machine) if is_own else []:
            contents[partition_name(name, partition.number)] = _partition(name, path, partition)
    return contents


def _partition(disk: str, path: str, one: Partition) -> dict[str, object]:
    name = partition_name(disk, one.number)
    partition: dict[str, object] = {
        "dev_path": f"/dev/{name}",
        "type": "partition",
        "device_path": f"{path}/{name}",
        "parent": disk,
        "parent_dev_path": f"/dev/{disk}",
        "offset": one.offset,
        "size": one.size,
        "pretty_size": pretty_size(one.size),
        "sector_size": _SECTOR,
        "io_size": _SECTOR,
        "name": one.filesystem,
        "uuid": one.filesystem_uuid,
        "partition_uuid": one.uuid,
        "partition_type": one.kind,
        "partition_label": one.label,
        "partition_index": one.number,
    }
    if one.filesystem in ("xfs", "vfat"):
        partition["label"] = one.label
    if one.filesystem == "xfs":
        sizes = {"block_size": _SECTOR, "filesystem_block_size": _FILESYSTEM_BLOCK}
        partition |= {**sizes, "probed_size": one.size}
    return partition
