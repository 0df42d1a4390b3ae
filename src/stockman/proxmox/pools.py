"""Pools of guests and storages, and mappings of devices."""

from __future__ import annotations

from typing import Literal

from stockman.model.record import record

MappingKind = Literal["pci", "usb", "dir"]


@record
class PoolMember:
    """A guest or a storage in a pool."""

    id: str
    """`qemu/100`, `storage/pve1/local`."""
    kind: str


@record
class Pool:
    """A pool: a group of guests and storages for access rules."""

    name: str
    comment: str = ""
    members: tuple[PoolMember, ...] = ()
    """Only set if a single pool was read."""


@record
class DeviceMapping:
    """A cluster-wide name for a device on several hosts."""

    name: str
    kind: MappingKind
    entries: tuple[str, ...]
    """One entry per host and device: `node=pve1,path=0000:01:00.0,id=...`."""
    description: str = ""
    mediated: bool = False
    digest: str = ""
