"""Partitions of the disk that Talos is on."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.disk import BOOT, EFI, EPHEMERAL, GRUB, META, STATE

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_MIB = 1 << 20
_BIOS = "BIOS"
_GRUB_EFI, _GRUB_BIOS = 100 * _MIB, _MIB
_META_SIZE, _STATE_SIZE = _MIB, 100 * _MIB
_DATA = "0fc63daf-8483-4772-8e79-3d69d8477de4"
_TYPES = {
    EFI: "c12a7328-f81f-11d2-ba4b-00a0c93ec93b",
    _BIOS: "21686148-6449-6e6f-744e-656564454649",
}
_FILESYSTEMS = {EFI: "vfat", BOOT: "xfs", META: "talosmeta", STATE: "xfs", EPHEMERAL: "xfs"}


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition."""

    number: int
    label: str
    offset: int
    size: int
    filesystem: str
    """Empty: none that is known."""
    kind: str
    """The UUID of its type."""
    uuid: str
    filesystem_uuid: str


def partitions(machine: Machine) -> list[Partition]:
    """Those of the system disk in their order; made at first boot are the last two."""
    disk = machine.disk
    if disk is None or not disk.is_installed:
        return []
    if disk.bootloader == GRUB:
        sizes = {EFI: _GRUB_EFI, _BIOS: _GRUB_BIOS, BOOT: disk.boot_room * _MIB}
    else:
        sizes = {EFI: disk.boot_room * _MIB}
    sizes |= {META: _META_SIZE}
    if disk.has(STATE):
        sizes[STATE] = _STATE_SIZE
    if disk.has(EPHEMERAL):
        sizes[EPHEMERAL] = max(disk.view.size - sum(sizes.values()) - 2 * _MIB, _MIB)
    found, offset = [], _MIB
    for number, (label, size) in enumerate(sizes.items(), 1):
        filesystem = _FILESYSTEMS.get(label, "")
        found.append(
            Partition(
                number,
                label,
                offset,
                size,
                filesystem,
                _TYPES.get(label, _DATA),
                made_uuid(machine, f"partition/{label}"),
                made_uuid(machine, f"filesystem/{label}") if filesystem == "xfs" else "",
            )
        )
        offset += size
    return found


def partition_name(disk: str, number: int) -> str:
    """`sda1`, and `nvme0n1p1` where the disk's own name ends with a digit."""
    return f"{disk}p{number}" if disk[-1:].isdigit() else f"{disk}{number}"


def made_uuid(machine: Machine, what: str) -> str:
    """A UUID that is always the same for the same thing of the same machine."""
    text = f"{machine.key}/{machine.state.uuid}/{what}"
    raw = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return str(uuid.UUID(bytes=raw, version=4))
