"""What disks of a virtual machine say of themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.guest.view import DiskView

SSD, CD = 1, 5


@dataclass(frozen=True, slots=True)
class DiskHardware:
    """One disk: constants of the kind of its slot."""

    model: str
    modalias: str
    bus_path: str
    transport: str
    type: int
    wwid: str = ""


def hardware_of(disk: DiskView) -> DiskHardware:
    """What a disk says, by the slot that it is in."""
    number = int(re.sub(r"\D", "", disk.slot) or 0)
    if disk.is_cdrom:
        path = f"/pci0000:00/0000:00:1f.2/ata{number + 1}/host{number}/target{number}:0:0"
        return DiskHardware("QEMU DVD-ROM", "scsi:t-0x05", f"{path}/{number}:0:0:0/", "ata", CD)
    if disk.slot.startswith("virtio"):
        bus = f"/pci0000:00/0000:00:{10 + number:02x}.0/virtio{number + 1}/"
        return DiskHardware("", "virtio:d00000002v00001AF4", bus, "virtio", SSD)
    bus = f"/pci0000:00/0000:00:05.0/virtio1/host0/target0:0:{number}/0:0:{number}:0/"
    serial = disk.serial or f"drive-{disk.slot}"
    wwid = f"t10.ATA     QEMU HARDDISK                           {serial}"
    return DiskHardware("QEMU HARDDISK", "scsi:t-0x00", bus, "virtio", SSD, wwid)
