"""Backups of guests, and replication of their disks between hosts."""

from __future__ import annotations

from typing import Literal

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.record import record


@record
class BackupRequest:
    """Parameters of a backup of a guest."""

    vmid: Vmid
    storage: Datastore
    mode: Literal["snapshot", "suspend", "stop"] = "snapshot"
    compress: Literal["0", "gzip", "lzo", "zstd"] = "zstd"
    notes: str = ""
    protected: bool = False


@record
class BackupJob:
    """A scheduled backup job of Proxmox VE."""

    id: str
    enabled: bool = True
    schedule: str = ""
    storage: str = ""
    vmids: tuple[int, ...] = ()
    every_guest: bool = False
    pool: str = ""


@record
class ReplicationJob:
    """A replication job: it copies the disks of a guest to another host on a schedule."""

    id: str
    """`100-0`."""
    guest: Vmid
    target: HostName
    source: str = ""
    schedule: str = ""
    disabled: bool = False


@record
class ReplicationState:
    """The state of a replication job on the source host."""

    id: str
    guest: Vmid
    target: str = ""
    failures: int = 0
    """Number of consecutive failures."""
    error: str = ""
    last_sync: int = 0
    """Unix time; 0: never."""
