"""Backups of guests, and replication of their disks between hosts."""

from __future__ import annotations

from typing import Literal, Protocol

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.record import record
from stockman.proxmox.tasks import TaskRef


@record
class BackupRequest:
    """How a guest is to be backed up."""

    vmid: Vmid
    storage: Datastore
    mode: Literal["snapshot", "suspend", "stop"] = "snapshot"
    compress: Literal["0", "gzip", "lzo", "zstd"] = "zstd"
    notes: str = ""
    protected: bool = False


@record
class BackupJob:
    """A backup that Proxmox VE makes by itself."""

    id: str
    enabled: bool = True
    schedule: str = ""
    storage: str = ""
    vmids: tuple[int, ...] = ()
    every_guest: bool = False
    pool: str = ""


@record
class ReplicationJob:
    """A guest whose disks are copied to another host again and again."""

    id: str
    """`100-0`."""
    guest: Vmid
    target: HostName
    source: str = ""
    schedule: str = ""
    disabled: bool = False


@record
class ReplicationState:
    """How replication of a guest goes on its host."""

    id: str
    guest: Vmid
    target: str = ""
    failures: int = 0
    """In a row."""
    error: str = ""
    last_sync: int = 0
    """Seconds since 1970; 0: never."""


class Backups(Protocol):
    """Backups and replication."""

    async def back_up(self, host: HostName, wish: BackupRequest) -> TaskRef | None:
        """Back a guest up. None: it is not on that host."""
        ...

    async def backup_jobs(self) -> tuple[BackupJob, ...]:
        """Backups that Proxmox VE makes by itself."""
        ...

    async def replication_jobs(self) -> tuple[ReplicationJob, ...]:
        """Replication as it is configured."""
        ...

    async def replication_states(self, host: HostName) -> tuple[ReplicationState, ...]:
        """How replication goes of guests on a host."""
        ...
