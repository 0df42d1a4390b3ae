"""Drives of virtual machines: disks, optical drives, firmware variables, TPM state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stockman_lab.pve.formats.drive_options import ANY, ASKED, DROPPED, STORED
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.property_string import parse, print_properties
from stockman_lab.pve.formats.sizes import parse_size

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
_NEEDS = {
    "mbps_max": "mbps",
    "mbps_rd_max": "mbps_rd",
    "mbps_wr_max": "mbps_wr",
    "bps_max_length": "mbps_max",
    "bps_rd_max_length": "mbps_rd_max",
    "bps_wr_max_length": "mbps_wr_max",
    "iops_max_length": "iops_max",
    "iops_rd_max_length": "iops_rd_max",
    "iops_wr_max_length": "iops_wr_max",
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
        return print_drive(self)


def parse_drive(key: str, text: str, *, asked: bool = False) -> Drive:
    """The drive of a configuration, or of a request if `asked`; raises `FormatError`."""
    if not is_drive(key) and not is_unused(key):
        raise FormatError(f"invalid drive key: {key}")
    bus = bus_of(key)
    options = parse((ASKED if asked else STORED)[bus], text, skip=DROPPED)
    for name in ("bps", "bps_rd", "bps_wr"):
        if options.pop(name, None) is not None:
            if f"m{name}" in options:
                raise FormatError(f"both {name} and m{name} specified")
            options[f"m{name}"] = "0.000"  # the real one converts whether it is set, not its value
    _check_limits(options)
    if options.get("media") == "cdrom" and (
        _is_true(options, "snapshot") or "format" in options or bus == "virtio"
    ):
        raise FormatError(f"{key}: not possible for an optical drive")
    if "size" in options:
        options["size"] = str(parse_size(options["size"]))
    return Drive(key, options)


def readable_drive(key: str, text: str, *, asked: bool = False) -> Drive | None:
    """The drive, or None where nobody could read it."""
    try:
        return parse_drive(key, text, asked=asked)
    except FormatError:
        return None


def print_drive(drive: Drive) -> str:
    """The canonical text of a drive."""
    return print_properties(ANY, drive.options)


def _check_limits(options: Mapping[str, str]) -> None:
    for name, needed in _NEEDS.items():
        if _is_true(options, name) and not _is_true(options, needed):
            raise FormatError(f"{name} requires {needed}")
    for total in ("mbps", "iops"):
        for part in (f"{total}_rd", f"{total}_wr"):
            if _is_true(options, total) and _is_true(options, part):
                raise FormatError(f"{part} and {total} exclude each other")


def _is_true(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "0") not in ("", "0")
