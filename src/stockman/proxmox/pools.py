"""Pools of guests and storages, and mappings of devices."""

from __future__ import annotations

from typing import Literal, Protocol

from stockman.model.record import record

MappingKind = Literal["pci", "usb", "dir"]


@record
class PoolMember:
    """Something in a pool."""

    id: str
    """`qemu/100`, `storage/pve1/local`."""
    kind: str


@record
class Pool:
    """A pool, to which rights may be given."""

    name: str
    comment: str = ""
    members: tuple[PoolMember, ...] = ()
    """Only where one pool was asked for."""


@record
class DeviceMapping:
    """A device that has one name on all hosts."""

    name: str
    kind: MappingKind
    entries: tuple[str, ...]
    """One for each host and device, `node=pve1,path=0000:01:00.0,id=...`."""
    description: str = ""
    mediated: bool = False
    digest: str = ""


class Pools(Protocol):
    """Pools of guests and storages."""

    async def pools(self) -> tuple[Pool, ...]:
        """All pools, without their members."""
        ...

    async def pool(self, name: str) -> Pool:
        """One pool with its members. `NotFound` where there is none."""
        ...

    async def create_pool(self, name: str, comment: str = "") -> None:
        """Make a pool. `Conflict` where the name is taken."""
        ...

    async def add_to_pool(
        self, name: str, *, vms: tuple[int, ...] = (), storages: tuple[str, ...] = ()
    ) -> None:
        """Put guests and storages into a pool; guests of other pools change over."""
        ...

    async def remove_from_pool(
        self, name: str, *, vms: tuple[int, ...] = (), storages: tuple[str, ...] = ()
    ) -> None:
        """Take guests and storages out of a pool."""
        ...

    async def delete_pool(self, name: str) -> None:
        """Delete an empty pool."""
        ...


class Mappings(Protocol):
    """Mappings of devices."""

    async def mappings(self, kind: MappingKind) -> tuple[DeviceMapping, ...]:
        """Mappings that the token may see."""
        ...

    async def create_mapping(self, mapping: DeviceMapping) -> None:
        """Make a mapping. `Conflict` where the name is taken."""
        ...

    async def update_mapping(self, mapping: DeviceMapping) -> None:
        """Give a mapping other entries."""
        ...

    async def delete_mapping(self, kind: MappingKind, name: str) -> None:
        """Delete a mapping."""
        ...
