"""Keys of drives: which there are, and in which order Proxmox VE looks for them."""

from __future__ import annotations

import re

IDE = tuple(f"ide{number}" for number in range(4))
SCSI = tuple(f"scsi{number}" for number in range(31))
VIRTIO = tuple(f"virtio{number}" for number in range(16))
SATA = tuple(f"sata{number}" for number in range(6))
UNUSED = tuple(f"unused{number}" for number in range(256))

BOOT_DRIVES = (*IDE, *SCSI, *VIRTIO, *SATA)
"""In the order in which a disk to boot from is looked for."""

DRIVES = (*BOOT_DRIVES, "efidisk0", "tpmstate0")

_DRIVES = frozenset(DRIVES)
_UNUSED = frozenset(UNUSED)
_BUS = re.compile(r"([a-z]+)\d+")


def is_drive(key: str) -> bool:
    """Whether a key of a configuration holds a drive."""
    return key in _DRIVES


def is_unused(key: str) -> bool:
    """Whether a key holds a volume that no drive uses."""
    return key in _UNUSED


def bus_of(key: str) -> str:
    """`scsi` of `scsi0`."""
    found = _BUS.fullmatch(key)
    return found[1] if found else ""
