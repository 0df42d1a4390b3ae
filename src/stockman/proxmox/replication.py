"""Replication of the disks of guests between hosts."""

from __future__ import annotations

from stockman.model.names import HostName, Vmid
from stockman.model.record import record


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
