"""The client of Proxmox VE."""

from __future__ import annotations

from stockman.ports.system import Timekeeper
from stockman.proxmox.calls.access import AccessCalls
from stockman.proxmox.calls.ha import HaCalls
from stockman.proxmox.calls.hosts import HostCalls
from stockman.proxmox.calls.pools import MappingCalls, PoolCalls
from stockman.proxmox.calls.power import AgentCalls, PowerCalls
from stockman.proxmox.calls.storages import ReplicationCalls, StorageCalls
from stockman.proxmox.calls.tasks import PollPolicy, TaskCalls
from stockman.proxmox.calls.vms import VmCalls
from stockman.proxmox.transport import Transport


class ProxmoxClient(
    VmCalls,
    PowerCalls,
    AgentCalls,
    HostCalls,
    StorageCalls,
    HaCalls,
    PoolCalls,
    MappingCalls,
    AccessCalls,
    ReplicationCalls,
    TaskCalls,
):
    """All calls to Proxmox VE over a transport."""

    def __init__(
        self, transport: Transport, clock: Timekeeper, polling: PollPolicy | None = None
    ) -> None:
        super().__init__(transport, clock)
        self._polling = polling or PollPolicy()
