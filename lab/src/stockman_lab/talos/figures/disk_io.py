"""What went to and from the disks of a machine since it booted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.disk import EPHEMERAL, STATE
from stockman_lab.talos.disks import names
from stockman_lab.talos.figures.partitions import system_partitions
from stockman_lab.talos.figures.steady import between
from stockman_lab.talos.figures.uptime import uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_LOOPS = 8
_SECTOR = 512


def block_devices(machine: Machine) -> list[tuple[str, int, int]]:
    """Names of devices with their numbers, major and minor, in the kernel's order."""
    found = [(f"loop{number}", 7, number) for number in range(_LOOPS)]
    partitions = system_partitions(machine)
    for place, name in enumerate(sorted(names(machine.view).values())):
        if name.startswith("sr"):
            found.append((name, 11, int(name[2:])))
            continue
        major = 8 if name.startswith("sd") else 253
        found.append((name, major, place * 16))
        found += [
            (partition.name, major, place * 16 + partition.number)
            for partition in partitions
            if partition.disk == name
        ]
    return found


def disk_figures(machine: Machine) -> list[dict[str, object]]:
    """Counters of each device; they grow evenly with the clock."""
    partitions = {partition.name: partition for partition in system_partitions(machine)}
    system = {partition.disk for partition in partitions.values()}
    age = uptime(machine)
    figures = []
    for name, _, _ in block_devices(machine):
        label = partitions[name].label if name in partitions else ""
        if name == "loop0":
            reads, writes = 5200 + age * 0.01, 0.0
        elif name in system or label == EPHEMERAL:
            reads = 9000 + age * between(machine, f"reads/{name}", 0.2, 0.8)
            writes = 3000 + age * _writes(machine)
        elif label == STATE:
            reads, writes = 260.0, 40 + age / 600
        elif label:
            reads, writes = 120.0, 2.0
        else:
            reads, writes = 0.0, 0.0
        figures.append(_figures(name, int(reads), int(writes)))
    return figures


def disk_total(machine: Machine) -> dict[str, object]:
    """All devices together, disks and partitions alike, as Talos adds them up."""
    devices = disk_figures(machine)
    return {
        name: sum(value for device in devices if isinstance(value := device[name], int))
        for name in devices[0]
        if name != "name"
    }


def _writes(machine: Machine) -> float:
    """Operations in a second: etcd writes most."""
    return 14.0 if machine.runs("etcd") else 3.0 if machine.runs("kubelet") else 0.1


def _figures(name: str, reads: int, writes: int) -> dict[str, object]:
    return {
        "name": name,
        "read_completed": reads,
        "read_merged": reads // 12,
        "read_sectors": reads * (24 * 1024 // _SECTOR),
        "read_time_ms": reads // 3,
        "write_completed": writes,
        "write_merged": writes // 3,
        "write_sectors": writes * (12 * 1024 // _SECTOR),
        "write_time_ms": writes,
        "io_in_progress": 0,
        "io_time_ms": (reads + writes * 2) // 3,
        "io_time_weighted_ms": reads // 3 + writes,
        "discard_completed": 0,
        "discard_merged": 0,
        "discard_sectors": 0,
        "discard_time_ms": 0,
    }
