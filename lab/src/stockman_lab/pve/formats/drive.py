"""Drives of virtual machines: disks, optical drives, firmware variables, TPM state."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.property_string import (
    REQUIRED_DEFAULT_KEY,
    Format,
    Property,
    booleans,
    parse,
    print_properties,
)

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


@dataclass(slots=True)
class Holder:
    """A place for a volume by its key, with its options; `size` is in bytes."""

    key: str
    options: dict[str, str]

    @property
    def size(self) -> int:
        """Bytes as last written down, 0 if never."""
        return int(self.options.get("size", "0"))

    @size.setter
    def size(self, value: int) -> None:
        self.options["size"] = str(value)


NEW_DISK = re.compile(r"(?:([^/:\s]+):)?(\d+(?:\.\d+)?)", re.ASCII)
_CLOUD_INIT = re.compile(
    r"[:/](?:vm-\d+-)?cloudinit(?:\.(?:raw|qcow|qcow2|qed|vmdk|cloop))?$", re.ASCII
)
_DROPPED = frozenset({"cyls", "heads", "secs", "trans"})
"""Geometry of old configurations: read over."""
_DRIVE: Format = {
    "volume": Property(alias="file"),
    "file": REQUIRED_DEFAULT_KEY,
    "size": Property(is_size=True),
    **booleans("snapshot backup replicate detect_zeroes shared ssd iothread ro scsiblock"),
    **booleans("pre-enrolled-keys"),
    **{
        f"{name}_length": Property(alias=f"{name}_max_length")
        for name in ("bps_rd", "bps_wr", "iops_rd", "iops_wr")
    },
}


class Drive(Holder):
    """One drive by its key, with its options under their canonical names; `size` is in bytes."""

    __slots__ = ()

    @property
    def file(self) -> str:
        """What is in it: `STORE:VOLUME`, `STORE:32`, a path, `none` or `cdrom`."""
        return self.options["file"]

    @file.setter
    def file(self, value: str) -> None:
        self.options["file"] = value

    @property
    def bus(self) -> str:
        """`scsi` of `scsi0`."""
        return bus_of(self.key)

    @property
    def is_cdrom(self) -> bool:
        """Whether it is an optical drive; a cloud-init drive is one, too."""
        return self.options.get("media") == "cdrom"

    @property
    def is_cloud_init(self) -> bool:
        """Whether it holds generated cloud-init data."""
        return bool(_CLOUD_INIT.search(self.file))

    @property
    def is_plain_cdrom(self) -> bool:
        """Whether it is an optical drive for a medium of the user."""
        return self.is_cdrom and not self.is_cloud_init

    @property
    def import_from(self) -> str:
        """Where the contents of a new disk come from, or nothing."""
        return self.options.get("import-from", "")

    @property
    def new_disk(self) -> tuple[str, str] | None:
        """Storage and GiB of a disk that is still to be made."""
        found = NEW_DISK.fullmatch(self.file)
        return (found[1] or "", found[2]) if found else None

    @property
    def new_cloud_init(self) -> str:
        """Storage of a cloud-init drive that is still to be made, or nothing."""
        storage, colon, name = self.file.partition(":")
        return storage if colon and name == "cloudinit" else ""

    @property
    def volume(self) -> str:
        """The volume in it, or nothing for `none`, `cdrom` and paths."""
        return self.file if ":" in self.file and not self.file.startswith("/") else ""

    def __str__(self) -> str:
        return print_properties(_DRIVE, self.options)


def parse_drive(key: str, text: str) -> Drive:
    """The drive of a configuration or of a request; raises `FormatError`."""
    if not is_drive(key) and not is_unused(key):
        raise FormatError(f"invalid drive key: {key}")
    return Drive(key, parse(_DRIVE, text, skip=_DROPPED))


def readable_drive(key: str, text: str) -> Drive | None:
    """The drive, or None where nobody could read it."""
    try:
        return parse_drive(key, text)
    except FormatError:
        return None
