"""All calls together: `ports.Proxmox` over any wire."""

from __future__ import annotations

from stockman.ports.clock import Timekeeper
from stockman.proxmox.access import AccessCalls
from stockman.proxmox.backups import BackupCalls
from stockman.proxmox.grouping import MappingCalls, PoolCalls
from stockman.proxmox.ha import HaCalls
from stockman.proxmox.hosts import HostCalls
from stockman.proxmox.power import AgentCalls, PowerCalls, SnapshotCalls
from stockman.proxmox.storages import StorageCalls
from stockman.proxmox.tasks import Patience, TaskCalls
from stockman.proxmox.vms import VmCalls
from stockman.proxmox.wire import Wire


class ApiProxmox(
    VmCalls,
    PowerCalls,
    SnapshotCalls,
    AgentCalls,
    HostCalls,
    StorageCalls,
    HaCalls,
    PoolCalls,
    MappingCalls,
    AccessCalls,
    BackupCalls,
    TaskCalls,
):
    """`ports.Proxmox` over any wire."""

    def __init__(self, wire: Wire, clock: Timekeeper, patience: Patience | None = None) -> None:
        super().__init__(wire, clock)
        self._patience = patience or Patience()
