"""Calls on pools and on mappings of devices."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.proxmox.calls.base import Calls, Parameters
from stockman.proxmox.pools import DeviceMapping, MappingKind, Pool, PoolMember
from stockman.proxmox.rows import UnexpectedAnswer, mapping, read_record, row_list, text

_POOL = {"name": "poolid"}


class PoolCalls(Calls):
    """Pools."""

    async def pools(self) -> tuple[Pool, ...]:
        """List all pools, without their members."""
        return await self._rows(("pools",), lambda row: read_record(Pool, row, _POOL, members=()))

    async def pool(self, name: str) -> Pool:
        """Return a pool with its members; raises `NotFound`."""
        return await self._get(("pools", name), lambda data: _pool(name, mapping(data)))

    async def create_pool(self, name: str, comment: str = "") -> None:
        """Create a pool; raises `Conflict` if it exists."""
        await self._do("POST", ("pools",), {"poolid": name, "comment": comment or None})

    async def add_to_pool(
        self, name: str, *, vms: tuple[int, ...] = (), storages: tuple[str, ...] = ()
    ) -> None:
        """Add guests and storages to a pool; guests of other pools are moved."""
        await self._do("PUT", ("pools", name), {**_members(vms, storages), "allow-move": True})

    async def delete_pool(self, name: str) -> None:
        """Delete an empty pool."""
        await self._do("DELETE", ("pools", name))


class MappingCalls(Calls):
    """Mappings."""

    async def mappings(self, kind: MappingKind) -> tuple[DeviceMapping, ...]:
        """List the device mappings that the token can see."""
        return await self._rows(("cluster", "mapping", kind), lambda row: _mapping(kind, row))

    async def create_mapping(self, mapping: DeviceMapping) -> None:
        """Create a mapping; raises `Conflict` if it exists."""
        await self._do(
            "POST",
            ("cluster", "mapping", mapping.kind),
            {"id": mapping.name, **_parameters(mapping)},
        )

    async def update_mapping(self, mapping: DeviceMapping) -> None:
        """Replace the entries of a mapping."""
        await self._do(
            "PUT",
            ("cluster", "mapping", mapping.kind, mapping.name),
            {**_parameters(mapping), "digest": mapping.digest or None},
        )


def _members(vms: tuple[int, ...], storages: tuple[str, ...]) -> Parameters:
    return {
        "vms": ",".join(str(vmid) for vmid in vms) or None,
        "storage": ",".join(storages) or None,
    }


def _pool(name: str, row: Mapping[str, object]) -> Pool:
    members = tuple(
        read_record(PoolMember, member, {"kind": "type"}) for member in row_list(row.get("members"))
    )
    return read_record(Pool, row, _POOL, name=name, members=members)


def _parameters(mapping: DeviceMapping) -> Parameters:
    return {
        "map": mapping.entries,
        "description": mapping.description or None,
        "mdev": mapping.mediated or None if mapping.kind == "pci" else None,
    }


def _mapping(kind: MappingKind, row: Mapping[str, object]) -> DeviceMapping:
    entries = row.get("map") or []
    if not isinstance(entries, list):
        raise UnexpectedAnswer("map: expected a list")
    return read_record(
        DeviceMapping,
        row,
        {"name": "id", "mediated": "mdev"},
        kind=kind,
        entries=tuple(text(entry) for entry in entries),
    )
