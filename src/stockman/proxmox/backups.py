"""Calls on backups and on replication."""

from __future__ import annotations

from stockman.model.names import HostName
from stockman.ports.proxmox.backups import (
    BackupJob,
    BackupWish,
    ReplicationJob,
    ReplicationState,
)
from stockman.ports.proxmox.tasks import TaskRef
from stockman.proxmox.calls import Calls
from stockman.proxmox.rows import read

_JOB = {"vmids": "vmid", "every_guest": "all"}
_REPLICATION = {"failures": "fail_count"}


class BackupCalls(Calls):
    """`ports.proxmox.backups.Backups` over a wire."""

    async def back_up(self, host: HostName, wish: BackupWish) -> TaskRef | None:
        return await self._maybe_start(
            "POST",
            ("nodes", host, "vzdump"),
            {
                "vmid": wish.vmid,
                "storage": wish.storage,
                "mode": wish.mode,
                "compress": wish.compress,
                "notes-template": wish.notes or None,
                "protected": wish.protected or None,
            },
        )

    async def backup_jobs(self) -> tuple[BackupJob, ...]:
        return await self._rows(("cluster", "backup"), lambda row: read(BackupJob, row, _JOB))

    async def replication_jobs(self) -> tuple[ReplicationJob, ...]:
        return await self._rows(
            ("cluster", "replication"),
            lambda row: read(ReplicationJob, row, {"disabled": "disable"}),
        )

    async def replication_states(self, host: HostName) -> tuple[ReplicationState, ...]:
        return await self._rows(
            ("nodes", host, "replication"), lambda row: read(ReplicationState, row, _REPLICATION)
        )
