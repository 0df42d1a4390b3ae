"""Emptying disks and partitions by request, where nothing uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.disk import EPHEMERAL, META, STATE, TalosDisk
from stockman_lab.talos.disks import names
from stockman_lab.talos.figures.mounts import mounts
from stockman_lab.talos.figures.partitions import Partition, system_partitions

if TYPE_CHECKING:
    from stockman_lab.guest.view import DiskView
    from stockman_lab.talos.machine import Machine

_VOLUMES = (EPHEMERAL, META, STATE)
_READ_ONLY = "loop"


def check(machine: Machine, device: str, *, ignore_volumes: bool) -> None:
    """Refuse a device that is not there, cannot be written, or is in use."""
    if device.startswith(_READ_ONLY):
        raise Refusal(GrpcCode.FAILED_PRECONDITION, f'blockdevice "{device}" is read-only')
    partition = _partition(machine, device)
    disk = _disk(machine, device)
    if partition is None and disk is None:
        raise Refusal(GrpcCode.NOT_FOUND, f'blockdevice "{device}" not found')
    if disk is not None and disk.is_cdrom:
        raise Refusal(GrpcCode.FAILED_PRECONDITION, f'blockdevice "{device}" is a CD-ROM')
    if ignore_volumes:
        return
    for volume in _volumes(machine):
        if device in (volume.name, volume.disk):
            raise Refusal(
                GrpcCode.FAILED_PRECONDITION,
                f'blockdevice "{device}" is in use by volume "{volume.label}"',
            )


def wipe(machine: Machine, device: str) -> None:
    """Empty a device; one that is mounted is left as it is."""
    mounted = {mount.source for mount in mounts(machine)}
    partitions = [one for one in system_partitions(machine) if device in (one.name, one.disk)]
    if any(one.path in mounted for one in partitions):
        raise Refusal(GrpcCode.FAILED_PRECONDITION, f'block device "{device}" is mounted or in use')
    partition = _partition(machine, device)
    system = machine.disk
    if partition is not None and system is not None:
        system.wipe(partition.label)
        return
    disk = _disk(machine, device)
    if disk is None:
        return
    TalosDisk(disk).wipe_all()
    if disk.slot == machine.state.system_disk:
        machine.state.system_disk = ""


def _volumes(machine: Machine) -> list[Partition]:
    """Partitions that are volumes of the system, by name."""
    has_config = bool(machine.state.config)
    partitions = {partition.label: partition for partition in system_partitions(machine)}
    volumes = _VOLUMES if has_config else (META,)
    return [partitions[volume] for volume in volumes if volume in partitions]


def _partition(machine: Machine, device: str) -> Partition | None:
    return next(
        (partition for partition in system_partitions(machine) if partition.name == device), None
    )


def _disk(machine: Machine, device: str) -> DiskView | None:
    view = machine.view
    slot = next((slot for slot, name in names(view).items() if name == device), "")
    return view.disk(slot) if slot else None
