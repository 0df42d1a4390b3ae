"""Reboots, shutdowns, resets, rollbacks."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record


class RebootMode(Enum):
    """How a machine boots again."""

    DEFAULT = "default"
    """Through kexec where it can, without the firmware."""
    POWERCYCLE = "powercycle"
    FORCE = "force"
    """Without stopping anything first; since Talos 1.12."""


class WipeMode(Enum):
    """Which disks a reset is about."""

    ALL = "all"
    SYSTEM_DISK = "system-disk"
    USER_DISKS = "user-disks"


@record
class Reset:
    """What is to be wiped."""

    graceful: bool
    """Whether it drains and leaves etcd first."""
    reboot: bool
    """False: it is switched off in the end."""
    mode: WipeMode = WipeMode.ALL
    partitions: tuple[str, ...] = ()
    """`STATE`, `EPHEMERAL`. Empty: the whole system disk."""
    user_disks: tuple[str, ...] = ()
    """`/dev/sdb`."""


class Power(Protocol):
    """Sequences that take a machine down; each answers at once with the id of its actor."""

    async def reboot(self, node: MachineAddress, mode: RebootMode = RebootMode.DEFAULT) -> str:
        """Boot again. `Unsupported` where this Talos does not know the mode."""
        ...

    async def shut_down(self, node: MachineAddress, *, force: bool = False) -> str:
        """Switch off; without `force` pods are moved away first."""
        ...

    async def reset(self, node: MachineAddress, reset: Reset) -> str:
        """Wipe disks or partitions."""
        ...

    async def roll_back(self, node: MachineAddress) -> None:
        """Boot what was installed before."""
        ...
