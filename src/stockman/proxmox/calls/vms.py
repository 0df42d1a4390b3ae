"""Calls on guests: finding them, their configuration, making, changing and moving them."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.model.names import HostName
from stockman.proxmox.calls.base import Path, read_optional_task, read_task
from stockman.proxmox.calls.cluster import ClusterCalls
from stockman.proxmox.rows import boolean, mapping, read_record, text, text_map
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Request
from stockman.proxmox.vms import (
    GuestRef,
    MigrationCheck,
    MigrationRequest,
    PendingKey,
    Setting,
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
"""Keys that the host only writes to the configuration before it answers. For other keys a task is
started, because the proxy of Proxmox VE drops responses that take longer than 30 s."""


def guest_path(at: GuestRef, *more: str) -> Path:
    """Return the API path of a guest, or of a resource below it."""
    return ("nodes", at.host, at.kind, str(at.vmid), *more)


class VmCalls(ClusterCalls):
    """Vms."""

    async def vm_config(self, at: GuestRef, *, current: bool = False) -> VmConfig:
        """Return the configuration with pending changes; `current`: without them."""
        return await self._get(
            guest_path(at, "config"), _config, {"current": True if current else None}
        )

    async def vm_pending(self, at: GuestRef) -> tuple[PendingKey, ...]:
        """List all configuration keys with their pending changes."""
        return await self._rows(
            guest_path(at, "pending"),
            lambda row: read_record(PendingKey, row, is_deleted=bool(row.get("delete"))),
        )

    async def vm_status(self, at: GuestRef) -> VmStatus:
        """The runtime status of a guest."""
        return await self._get(guest_path(at, "status", "current"), _status)

    async def create_vm(self, at: GuestRef, values: Mapping[str, Setting]) -> TaskRef:
        """Create a guest; raises `Conflict` if the VMID is in use."""
        request = Request(
            method="POST",
            segments=("nodes", at.host, at.kind),
            parameters={"vmid": at.vmid, **values},
        )
        return read_task(request, await self._transport.call(request))

    async def update_vm(self, at: GuestRef, change: VmUpdate) -> TaskRef | None:
        """Update the configuration; some keys stay pending until a restart. None: no task."""
        request = Request(
            method="PUT" if at.kind == "lxc" or _needs_no_task(change) else "POST",
            segments=guest_path(at, "config"),
            parameters={
                **change.values,
                "delete": ",".join(change.delete) or None,
                "revert": ",".join(change.revert) or None,
                "digest": change.digest,
            },
        )
        return read_optional_task(request, await self._transport.call(request))

    async def delete_vm(self, at: GuestRef, *, purge: bool = True) -> TaskRef:
        """Delete a stopped guest with its own disks; `purge`: also remove it from HA, backup
        and replication jobs."""
        request = Request(method="DELETE", segments=guest_path(at), parameters={"purge": purge})
        return read_task(request, await self._transport.call(request))

    async def make_template(self, at: GuestRef) -> TaskRef | None:
        """Convert a guest to a template; this cannot be undone."""
        request = Request(method="POST", segments=guest_path(at, "template"))
        return read_optional_task(request, await self._transport.call(request))

    async def resize_disk(self, at: GuestRef, disk: str, size: str) -> TaskRef | None:
        """Grow a disk to a size (`32G`) or by a size (`+8G`); shrinking fails."""
        request = Request(
            method="PUT",
            segments=guest_path(at, "resize"),
            parameters={"disk": disk, "size": size},
        )
        return read_optional_task(request, await self._transport.call(request))

    async def unlink_disks(
        self, at: GuestRef, disks: tuple[str, ...], *, destroy: bool = False
    ) -> None:
        """Detach disks; `destroy`: also delete those that the guest owns."""
        await self._do(
            "PUT", guest_path(at, "unlink"), {"idlist": ",".join(disks), "force": destroy}
        )

    async def check_migration(self, at: GuestRef, target: HostName | None = None) -> MigrationCheck:
        """Return whether a VM can be migrated, and to which hosts."""
        return await self._get(guest_path(at, "migrate"), _migration_check, {"target": target})

    async def migrate_vm(self, at: GuestRef, migration: MigrationRequest) -> TaskRef:
        """Migrate a guest to another host."""
        container = at.kind == "lxc"
        request = Request(
            method="POST",
            segments=guest_path(at, "migrate"),
            parameters={
                "target": migration.target,
                "online": migration.online or None,
                "restart": (migration.restart or None) if container else None,
                "with-local-disks": (migration.with_local_disks or None) if not container else None,
                "target-storage" if container else "targetstorage": migration.target_storage,
            },
        )
        return read_task(request, await self._transport.call(request))


def _needs_no_task(change: VmUpdate) -> bool:
    return not change.revert and {*change.values, *change.delete} <= _KEYS_WITHOUT_TASK


def _config(data: object) -> VmConfig:
    values = text_map(data)
    return VmConfig(digest=values.pop("digest", ""), values=values)


def _status(data: object) -> VmStatus:
    managed = mapping(mapping(data).get("ha") or {}).get("managed", 0)
    return read_record(VmStatus, data, _STATUS, ha_managed=boolean(managed))


def _migration_check(data: object) -> MigrationCheck:
    row = mapping(data)
    rejected = mapping(row.get("not_allowed_nodes") or {})
    disks = row.get("local_disks") or []
    return MigrationCheck(
        running=boolean(row.get("running", 0)),
        allowed=tuple(text(item) for item in _items(row.get("allowed_nodes"))),
        refused={host: _reasons(why) for host, why in rejected.items()},
        local_disks=tuple(text(mapping(item).get("volid", "")) for item in _items(disks)),
        local_resources=tuple(text(item) for item in _items(row.get("local_resources"))),
        mapped=tuple(text(item) for item in _items(row.get("mapped-resources"))),
    )


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _reasons(reasons: object) -> str:
    if not isinstance(reasons, dict):
        return text(reasons)
    return "; ".join(
        f"{key.replace('_', ' ')}: {', '.join(str(item) for item in _items(value))}"
        for key, value in reasons.items()
    )
