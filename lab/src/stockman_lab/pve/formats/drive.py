"""Drives of virtual machines: disks, optical drives, firmware variables, TPM state, boot order."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.lists import split_list
from stockman_lab.pve.formats.property_string import (
    DEFAULT_KEY,
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


_BOOT_DRIVES = frozenset(BOOT_DRIVES)
_NETS = tuple(f"net{number}" for number in range(32))


BOOT: Format = {"legacy": DEFAULT_KEY}


def boot_order(text: str) -> list[str]:
    """Devices of an order; none where only the old letters are given. Raises `FormatError`."""
    return split_list(parse(BOOT, text).get("order", ""))


def print_order(devices: Sequence[str]) -> str:
    """The canonical text of an order; nothing for no device."""
    return f"order={';'.join(devices)}" if devices else ""


def default_order(config: Mapping[str, str]) -> list[str]:
    """What a new machine boots from: its first disk, first optical drive and first card."""
    disk = cdrom = ""
    for key in BOOT_DRIVES:
        drive = readable_drive(key, config[key]) if config.get(key) else None
        if drive and drive.is_cdrom:
            cdrom = cdrom or key
        elif drive:
            disk = disk or key
    net = next((key for key in _NETS if config.get(key)), "")
    return [device for device in (disk, cdrom, net) if device]


def check_order_exists(text: str, known: Container[str], deleted: Container[str]) -> None:
    """Refuses an order with a device that the machine does not have or is about to lose."""
    for device in boot_order(text):
        if device not in known or device in deleted:
            raise die(f"invalid bootorder: device '{device}' does not exist'")


def boot_disks(config: Mapping[str, str]) -> list[str]:
    """Drives that may not be unplugged while the machine runs."""
    text = config.get("boot", "")
    found = parse(BOOT, text) if text else {}
    if not found or "legacy" in found:
        return [config["bootdisk"]] if config.get("bootdisk") else []
    return [device for device in split_list(found.get("order", "")) if device in _BOOT_DRIVES]
