"""Calls on guests: finding them, their configuration, making, changing and moving them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from stockman.model.errors import NotFound
from stockman.model.names import HostName, Vmid
from stockman.proxmox.calls.base import Path
from stockman.proxmox.calls.cluster import ClusterCalls
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.rows import boolean, mapping, read_record, text, text_map
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.vms import (
    CloneRequest,
    DiskMove,
    GuestRef,
    MigrationCheck,
    MigrationRequest,
    PendingKey,
    Setting,
    Vm,
    VmConfig,
    VmStatus,
    VmUpdate,
)

_STATUS = {
    "qmp_status": "qmpstatus",
    "cores": "cpus",
    "memory": "maxmem",
    "is_template": "template",
    "has_agent": "agent",
}

_KEYS_WITHOUT_TASK = frozenset({"description", "onboot", "protection", "startup", "tags"})
"""Keys of a VM that nothing happens for: the host writes them down before it answers. For others
a task is started, as an answer that takes 30 s does not come through."""


def guest_path(at: GuestRef, *more: str) -> Path:
    """The path of a guest, and of what is below it."""
    return ("nodes", at.host, at.kind, str(at.vmid), *more)


class VmCalls(ClusterCalls):
    """`ports.proxmox.vms.Vms` over a wire."""

    async def find_vm(self, vmid: Vmid) -> Vm | None:
        # The list lags behind: a VM may have moved or be gone by the time it is asked for.
        for _ in range(2):
            seen = await self._seen(vmid)
            if seen is None:
                return None
            try:
                return await self._identified(seen)
            except NotFound:
                continue
        return None

    async def _seen(self, vmid: Vmid) -> GuestSummary | None:
        found = await self.resources()
        return next((g for g in found.guests if g.vmid == vmid and g.kind == "qemu"), None)

    async def _identified(self, seen: GuestSummary) -> Vm:
        at = GuestRef(host=seen.host, vmid=seen.vmid)
        config = await self.vm_config(at)
        status = await self.vm_status(at)
        return Vm(
            host=seen.host,
            vmid=seen.vmid,
            name=config.name or status.name,
            uuid=config.uuid,
            status=status.status,
            lock=status.lock,
            is_template=status.is_template,
            tags=seen.tags,
        )

    async def vm_config(self, at: GuestRef, *, current: bool = False) -> VmConfig:
        return await self._get(
            guest_path(at, "config"), _config, {"current": True if current else None}
        )

    async def vm_pending(self, at: GuestRef) -> tuple[PendingKey, ...]:
        return await self._rows(
            guest_path(at, "pending"),
            lambda row: read_record(PendingKey, row, is_deleted=bool(row.get("delete"))),
        )

    async def vm_status(self, at: GuestRef) -> VmStatus:
        return await self._get(guest_path(at, "status", "current"), _status)

    async def create_vm(self, at: GuestRef, values: Mapping[str, Setting]) -> TaskRef:
        return await self._start("POST", ("nodes", at.host, at.kind), {"vmid": at.vmid, **values})

    async def update_vm(self, at: GuestRef, change: VmUpdate) -> TaskRef | None:
        return await self._maybe_start(
            "PUT" if at.kind == "lxc" or _needs_no_task(change) else "POST",
            guest_path(at, "config"),
            {
                **change.values,
                "delete": ",".join(change.delete) or None,
                "revert": ",".join(change.revert) or None,
                "digest": change.digest,
            },
        )

    async def delete_vm(self, at: GuestRef, *, purge: bool = True) -> TaskRef:
        return await self._start("DELETE", guest_path(at), {"purge": purge})

    async def clone_vm(self, at: GuestRef, clone: CloneRequest) -> TaskRef:
        return await self._start(
            "POST",
            guest_path(at, "clone"),
            {
                "newid": clone.vmid,
                "name" if at.kind == "qemu" else "hostname": clone.name,
                "full": clone.full,
                "storage": clone.storage,
                "target": clone.target,
                "pool": clone.pool,
                "description": clone.description,
            },
        )

    async def make_template(self, at: GuestRef) -> TaskRef | None:
        return await self._maybe_start("POST", guest_path(at, "template"))

    async def resize_disk(self, at: GuestRef, disk: str, size: str) -> TaskRef | None:
        return await self._maybe_start(
            "PUT", guest_path(at, "resize"), {"disk": disk, "size": size}
        )

    async def move_disk(self, at: GuestRef, move: DiskMove) -> TaskRef:
        container = at.kind == "lxc"
        return await self._start(
            "POST",
            guest_path(at, "move_volume" if container else "move_disk"),
            {
                "volume" if container else "disk": move.disk,
                "storage": move.storage,
                "format": move.format,
                "delete": move.delete_source,
            },
        )

    async def unlink_disks(
        self, at: GuestRef, disks: tuple[str, ...], *, destroy: bool = False
    ) -> None:
        await self._do(
            "PUT", guest_path(at, "unlink"), {"idlist": ",".join(disks), "force": destroy}
        )

    async def migration_outlook(
        self, at: GuestRef, target: HostName | None = None
    ) -> MigrationCheck:
        return await self._get(guest_path(at, "migrate"), _outlook, {"target": target})

    async def migrate_vm(self, at: GuestRef, migration: MigrationRequest) -> TaskRef:
        container = at.kind == "lxc"
        return await self._start(
            "POST",
            guest_path(at, "migrate"),
            {
                "target": migration.target,
                "online": migration.online or None,
                "restart": (migration.restart or None) if container else None,
                "with-local-disks": (migration.with_local_disks or None) if not container else None,
                "target-storage" if container else "targetstorage": migration.target_storage,
            },
        )

    async def regenerate_cloud_init(self, at: GuestRef) -> None:
        await self._do("PUT", guest_path(at, "cloudinit"))

    async def cloud_init_text(self, at: GuestRef, part: Literal["user", "network", "meta"]) -> str:
        return await self._get(guest_path(at, "cloudinit", "dump"), text, {"type": part})


def _needs_no_task(change: VmUpdate) -> bool:
    return not change.revert and {*change.values, *change.delete} <= _KEYS_WITHOUT_TASK


def _config(data: object) -> VmConfig:
    values = text_map(data)
    return VmConfig(digest=values.pop("digest", ""), values=values)


def _status(data: object) -> VmStatus:
    managed = mapping(mapping(data).get("ha") or {}).get("managed", 0)
    return read_record(VmStatus, data, _STATUS, ha_managed=boolean(managed))


def _outlook(data: object) -> MigrationCheck:
    row = mapping(data)
    refused = mapping(row.get("not_allowed_nodes") or {})
    disks = row.get("local_disks") or []
    return MigrationCheck(
        running=boolean(row.get("running", 0)),
        allowed=tuple(text(one) for one in _items(row.get("allowed_nodes"))),
        refused={host: _reasons(why) for host, why in refused.items()},
        local_disks=tuple(text(mapping(one).get("volid", "")) for one in _items(disks)),
        local_resources=tuple(text(one) for one in _items(row.get("local_resources"))),
        mapped=tuple(text(one) for one in _items(row.get("mapped-resources"))),
    )


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _reasons(why: object) -> str:
    if not isinstance(why, dict):
        return text(why)
    return "; ".join(
        f"{key.replace('_', ' ')}: {', '.join(str(one) for one in _items(value))}"
        for key, value in why.items()
    )
