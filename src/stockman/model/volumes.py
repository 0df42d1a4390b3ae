"""Disks of a Talos machine: the one to install on, and what is made on the others."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import BYTES, DISK_SIZE, SHARE, VOLUME_NAME, Example

DiskMatch = Annotated[str, Example("disk.transport == 'nvme' && !system_disk")]


@record
class DiskSelector(Traced):
    """A disk by what it is; all that is given must hold. Texts may contain `*`."""

    size: Annotated[str, DISK_SIZE] | None = None
    """Size, compared by `>=`, `<=`, `>`, `<` or `==`; `GB` counts in thousands, `GiB` in 1024s.
    None: any."""
    model: Annotated[str, Example("Samsung SSD*")] | None = None
    """Model, as the kernel shows it. None: any."""
    serial: Annotated[str, Example("S4EW*")] | None = None
    """Serial number. None: any."""
    wwid: Annotated[str, Example("naa.5000c500a0000000")] | None = None
    """World wide name. None: any."""
    uuid: str | None = None
    """UUID of the device. None: any."""
    modalias: str | None = None
    """Kind of the device, as the kernel names it. None: any."""
    bus_path: Annotated[str, Example("/pci0000:00/*")] | None = None
    """Where it is plugged in. None: any."""
    type: Literal["ssd", "hdd", "nvme", "sd"] | None = None
    """What it is made of. None: any."""
    match: DiskMatch | None = None
    """Expression in CEL instead of the other keys; from contract 1.14 on. None: see the others."""


@record
class SystemVolume(Traced):
    """Room of EPHEMERAL, which holds images, logs and pods' scratch files."""

    min_size: Annotated[str, BYTES] | None = None
    """Least size. None: as Talos decides."""
    max_size: Annotated[str, SHARE] | None = None
    """Largest size; a share needs contract 1.12. None: all that is left of the disk."""
    disk_match: DiskMatch | None = None
    """Disk by an expression in CEL. None: the disk that Talos is installed on."""


@record
class Volume(Traced):
    """A partition that Talos makes: a filesystem under `/var/mnt`, a raw one, or swap."""

    name: Annotated[str, VOLUME_NAME]
    """Name, and the directory under `/var/mnt`."""
    kind: Literal["user", "raw", "swap"] = "user"
    """user: a filesystem. raw: no filesystem. swap: memory on disk."""
    disk: Annotated[str, Example("data")] | None = None
    """Disk by path or serial number; a data disk of a VM has its name as serial number.
    None: see `disk_match`."""
    disk_match: DiskMatch | None = None
    """Disk by an expression in CEL. None: any disk but that of the system."""
    min_size: Annotated[str, BYTES] | None = None
    """Least size; one of the two sizes is needed. None: as Talos decides."""
    max_size: Annotated[str, SHARE] | None = None
    """Largest size; a share needs contract 1.12. None: all that is left of the disk."""
    filesystem: Literal["xfs", "ext4"] = "xfs"
    """Filesystem of a `user` volume."""
    encryption: Literal["none", "tpm", "node-id"] = "none"
    """tpm: with a key in the TPM. node-id: with a key made from the machine's UUID, which protects
    a disk only once it is taken out."""
