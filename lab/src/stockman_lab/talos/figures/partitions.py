"""Partitions of the system disk, and how full they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.disk import BOOT, EFI, EPHEMERAL, GRUB, META, STATE
from stockman_lab.talos.disks import names

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

MIB = 1 << 20
_BIOS = "BIOS"
_BEFORE = MIB
_AFTER = MIB
_GRUB_LAYOUT = ((EFI, 100), (_BIOS, 1), (BOOT, 2000), (META, 1), (STATE, 100))
_UKI_LAYOUT = ((EFI, 2101), (META, 1), (STATE, 100))
_FILESYSTEMS = {EFI: "vfat", BOOT: "xfs", STATE: "xfs", EPHEMERAL: "xfs", META: "talosmeta"}


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition."""

    disk: str
    """`sda`."""
    number: int
    label: str
    start: int
    size: int

    @property
    def name(self) -> str:
        """`sda4`, `nvme0n1p4`."""
        between = "p" if self.disk[-1:].isdigit() else ""
        return f"{self.disk}{between}{self.number}"

    @property
    def path(self) -> str:
        return f"/dev/{self.name}"

    @property
    def filesystem(self) -> str:
        """Empty: none is on it."""
        return _FILESYSTEMS.get(self.label, "")


def system_partitions(machine: Machine) -> list[Partition]:
    """Those of the system disk, in order. None: Talos is not installed.

    EPHEMERAL takes what the others leave; it is there once a boot made it.
    """
    disk = machine.disk
    if disk is None or not disk.is_installed:
        return []
    name = names(machine.view)[disk.view.slot]
    layout = _GRUB_LAYOUT if disk.bootloader == GRUB else _UKI_LAYOUT
    partitions, before = [], _BEFORE
    for number, (label, size) in enumerate(layout, start=1):
        partitions.append(Partition(name, number, label, before, size * MIB))
        before += size * MIB
    rest = disk.view.size - before - _AFTER
    if rest > 0:
        partitions.append(Partition(name, len(partitions) + 1, EPHEMERAL, before, rest))
    return partitions


def system_partition(machine: Machine, label: str) -> Partition | None:
    """The partition with a label. None: there is none."""
    return next(
        (partition for partition in system_partitions(machine) if partition.label == label), None
    )
