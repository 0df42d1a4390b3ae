"""Options that a drive may have on each bus."""

from __future__ import annotations

from stockman_lab.pve.formats.checks import (
    url_encoded,
    volume_id,
    volume_id_or_medium,
    volume_id_or_path,
)
from stockman_lab.pve.formats.property_string import Format, Property
from stockman_lab.pve.formats.sizes import parse_size

BOOLEAN = Property(kind="boolean")
INTEGER = Property(kind="integer")
NUMBER = Property(kind="number")

DROPPED = frozenset({"cyls", "heads", "secs", "trans"})
"""Geometry of old configurations: read over."""

THROTTLES = (
    *("mbps", "mbps_rd", "mbps_wr", "iops", "iops_rd", "iops_wr"),
    *("mbps_max", "mbps_rd_max", "mbps_wr_max", "iops_max", "iops_rd_max", "iops_wr_max"),
    *("bps_max_length", "bps_rd_max_length", "bps_wr_max_length"),
    *("iops_max_length", "iops_rd_max_length", "iops_wr_max_length"),
)
"""What limits a disk, and can be changed while it is in use."""

_FILE = {
    "volume": Property(alias="file"),
    "file": Property(required=True, default_key=True, check=volume_id_or_medium),
    "size": Property(is_size=True, check=parse_size),
}
_IMAGE_FORMAT = Property(enum=("raw", "qcow", "qed", "qcow2", "vmdk", "cloop"))


def _throttle(name: str) -> Property:
    if name.endswith("_length"):
        return Property(kind="integer", minimum=1)
    return NUMBER if name.startswith("mbps") else INTEGER


_BASE: Format = {
    **_FILE,
    "media": Property(enum=("cdrom", "disk")),
    "snapshot": BOOLEAN,
    "cache": Property(enum=("none", "writethrough", "writeback", "unsafe", "directsync")),
    "format": _IMAGE_FORMAT,
    "backup": BOOLEAN,
    "replicate": BOOLEAN,
    "rerror": Property(enum=("ignore", "report", "stop")),
    "werror": Property(enum=("enospc", "ignore", "report", "stop")),
    "aio": Property(enum=("native", "threads", "io_uring")),
    "discard": Property(enum=("ignore", "on")),
    "detect_zeroes": BOOLEAN,
    "serial": Property(check=url_encoded, longest=60),
    "shared": BOOLEAN,
    **{name: _throttle(name) for name in THROTTLES},
    "bps": INTEGER,
    "bps_rd": INTEGER,
    "bps_wr": INTEGER,
    "bps_rd_length": Property(alias="bps_rd_max_length"),
    "bps_wr_length": Property(alias="bps_wr_max_length"),
    "iops_rd_length": Property(alias="iops_rd_max_length"),
    "iops_wr_length": Property(alias="iops_wr_max_length"),
}
_MODEL = {"model": Property(check=url_encoded, longest=120)}
_SSD = {"ssd": BOOLEAN}
_WWN = {"wwn": Property(pattern="(0x)[0-9a-fA-F]{16}")}
_IOTHREAD = {"iothread": BOOLEAN}
_READ_ONLY = {"ro": BOOLEAN}
_SCSI_ONLY = {
    "product": Property(pattern=r"[A-Za-z0-9\-_\s]{0,16}"),
    "queues": Property(kind="integer", minimum=2),
    "scsiblock": BOOLEAN,
    "vendor": Property(pattern=r"[A-Za-z0-9\-_\s]{0,8}"),
}
_EFI = {
    "efitype": Property(enum=("2m", "4m")),
    "pre-enrolled-keys": BOOLEAN,
    "ms-cert": Property(enum=("2011", "2023", "2023w", "2023k")),
}
_TPM = {"version": Property(enum=("v1.2", "v2.0"))}
_IMPORT = {"import-from": Property(check=volume_id_or_path)}

STORED: dict[str, Format] = {
    "ide": {**_BASE, **_MODEL, **_SSD, **_WWN},
    "scsi": {**_BASE, **_IOTHREAD, **_READ_ONLY, **_SCSI_ONLY, **_SSD, **_WWN},
    "sata": {**_BASE, **_SSD, **_WWN},
    "virtio": {**_BASE, **_IOTHREAD, **_READ_ONLY},
    "efidisk": {**_FILE, "format": _IMAGE_FORMAT, **_EFI},
    "tpmstate": {**_FILE, "format": Property(enum=("raw", "qcow2", "vmdk")), **_TPM},
    "unused": {
        "volume": Property(alias="file"),
        "file": Property(required=True, default_key=True, check=volume_id),
    },
}
"""By bus, what a configuration may hold."""

ASKED: dict[str, Format] = {
    bus: known if bus == "unused" else {**known, **_IMPORT} for bus, known in STORED.items()
}
"""By bus, what a request may hold: also where to import from."""

ANY: Format = {
    **STORED["ide"],
    **STORED["scsi"],
    **STORED["efidisk"],
    **STORED["tpmstate"],
    "format": _IMAGE_FORMAT,
    **_IMPORT,
}
"""Everything that is printed, whatever the bus."""
