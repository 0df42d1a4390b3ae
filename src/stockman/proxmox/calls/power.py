"""Calls that switch guests on and off, take snapshots, and reach the agent inside."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.model.errors import Unreachable
from stockman.proxmox.calls.base import Calls, Parameters
from stockman.proxmox.calls.vms import guest_path
from stockman.proxmox.rows import mapping, read_record, row_list
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.vms import AgentAddress, AgentInterface, GuestRef, Snapshot

_SNAPSHOT = {"taken": "snaptime", "with_memory": "vmstate"}
_PRESENT = "current"
"""The row of the current state in the list of snapshots."""


class PowerCalls(Calls):
    """Power."""

    async def start_vm(self, at: GuestRef) -> TaskRef:
        """Start a guest; the task fails if it is running."""
        return await self._switch(at, "start")

    async def stop_vm(self, at: GuestRef) -> TaskRef:
        """Power off a guest; succeeds if it is stopped."""
        return await self._switch(at, "stop")

    async def shutdown_vm(self, at: GuestRef, *, seconds: int = 60, force: bool = False) -> TaskRef:
        """Shut down a guest; `force`: power it off after the timeout."""
        return await self._switch(at, "shutdown", {"timeout": seconds, "forceStop": force})

    async def reboot_vm(self, at: GuestRef, *, seconds: int = 60) -> TaskRef:
        """Shut down and start a guest, which applies pending changes."""
        return await self._switch(at, "reboot", {"timeout": seconds})

    async def reset_vm(self, at: GuestRef) -> TaskRef:
        """Reset a guest."""
        return await self._switch(at, "reset")

    async def suspend_vm(self, at: GuestRef) -> TaskRef:
        """Pause a guest."""
        return await self._switch(at, "suspend")

    async def resume_vm(self, at: GuestRef) -> TaskRef:
        """Resume a paused guest."""
        return await self._switch(at, "resume")

    async def _switch(
        self, at: GuestRef, command: str, parameters: Parameters | None = None
    ) -> TaskRef:
        return await self._start("POST", guest_path(at, "status", command), parameters)


class SnapshotCalls(Calls):
    """Snapshots."""

    async def snapshots(self, at: GuestRef) -> tuple[Snapshot, ...]:
        """List the snapshots, without the current state."""
        rows = await self._rows(
            guest_path(at, "snapshot"), lambda row: read_record(Snapshot, row, _SNAPSHOT)
        )
        return tuple(row for row in rows if row.name != _PRESENT)

    async def take_snapshot(self, at: GuestRef, name: str, description: str = "") -> TaskRef:
        """Create a snapshot without memory; raises `Conflict` if the name is in use."""
        return await self._start(
            "POST",
            guest_path(at, "snapshot"),
            {"snapname": name, "description": description or None},
        )

    async def delete_snapshot(self, at: GuestRef, name: str) -> TaskRef:
        """Delete a snapshot."""
        return await self._start("DELETE", guest_path(at, "snapshot", name))

    async def roll_back(self, at: GuestRef, name: str) -> TaskRef:
        """Roll back a guest to a snapshot; later changes are lost."""
        return await self._start("POST", guest_path(at, "snapshot", name, "rollback"))


class AgentCalls(Calls):
    """Agent."""

    async def agent_answers(self, at: GuestRef) -> bool:
        """Return whether the guest agent responds; False if the VM is stopped or has no agent."""
        try:
            await self._do("POST", guest_path(at, "agent", "ping"))
        except Unreachable as error:
            if error.problem.code != "proxmox.agent":
                raise
            return False
        return True

    async def agent_interfaces(self, at: GuestRef) -> tuple[AgentInterface, ...]:
        """List the interfaces reported by the agent; raises `Unreachable` without an agent."""
        return await self._get(
            guest_path(at, "agent", "network-get-interfaces"),
            lambda data: tuple(_interface(row) for row in row_list(mapping(data).get("result"))),
        )


def _interface(row: Mapping[str, object]) -> AgentInterface:
    addresses = tuple(
        read_record(AgentAddress, address, {"address": "ip-address", "kind": "ip-address-type"})
        for address in row_list(row.get("ip-addresses"))
    )
    return read_record(AgentInterface, row, {"mac": "hardware-address"}, addresses=addresses)
