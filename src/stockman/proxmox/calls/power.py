"""Calls that switch guests on and off, and reach the agent inside."""

from __future__ import annotations

from collections.abc import Mapping

from stockman.model.errors import Unreachable
from stockman.proxmox.calls.base import Calls, Parameters, read_task
from stockman.proxmox.calls.vms import guest_path
from stockman.proxmox.rows import mapping, read_record, row_list
from stockman.proxmox.tasks import TaskRef
from stockman.proxmox.transport import Request
from stockman.proxmox.vms import AgentAddress, AgentInterface, GuestRef


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

    async def _switch(
        self, at: GuestRef, command: str, parameters: Parameters | None = None
    ) -> TaskRef:
        path = guest_path(at, "status", command)
        request = Request(method="POST", segments=path, parameters=parameters or {})
        return read_task(request, await self._transport.call(request))


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
