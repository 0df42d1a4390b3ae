"""Disks of a machine."""

from __future__ import annotations

from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record


@record
class Disk:
    """A disk, or a drive."""

    path: str
    """`/dev/sda`."""
    size: int
    """Bytes."""
    model: str = ""
    serial: str = ""
    wwid: str = ""
    transport: str = ""
    """`virtio`, `sata`, `nvme`. Empty: not told."""
    read_only: bool = False
    is_cdrom: bool = False


class Disks(Protocol):
    """The disks of a machine."""

    async def disks(self, node: MachineAddress) -> tuple[Disk, ...]:
        """All disks and drives, by path."""
        ...

    async def system_disk(self, node: MachineAddress) -> str | None:
        """Where Talos is installed, `/dev/sda`. None: nowhere, it runs in memory."""
        ...
