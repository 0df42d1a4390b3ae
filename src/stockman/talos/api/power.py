"""Calls that take machines down."""

from __future__ import annotations

from stockman.model.errors import Unsupported
from stockman.model.names import MachineAddress
from stockman.model.version import Version
from stockman.ports.talos.power import RebootMode, Reset
from stockman.talos.api import problems
from stockman.talos.api.calls import MACHINE, request_for
from stockman.talos.api.machines import MachineCalls
from stockman.talos.api.rows import Row

_REBOOT = f"{MACHINE}/Reboot"
_FORCE_SINCE = Version(1, 12)


class PowerCalls(MachineCalls):
    """`ports.talos.power.Power` over a wire."""

    async def reboot(self, node: MachineAddress, mode: RebootMode = RebootMode.DEFAULT) -> str:
        if mode is RebootMode.FORCE:
            await self._need_force(node)
        return self._actor(_REBOOT, node, await self._change(_REBOOT, node, {"mode": mode.name}))

    async def shut_down(self, node: MachineAddress, *, force: bool = False) -> str:
        method = f"{MACHINE}/Shutdown"
        return self._actor(method, node, await self._change(method, node, {"force": force}))

    async def reset(self, node: MachineAddress, reset: Reset) -> str:
        method = f"{MACHINE}/Reset"
        fields = {
            "graceful": reset.graceful,
            "reboot": reset.reboot,
            "mode": reset.mode.name,
            "system_partitions_to_wipe": [
                {"label": label, "wipe": True} for label in reset.partitions
            ],
            "user_disks_to_wipe": list(reset.user_disks),
        }
        return self._actor(method, node, await self._change(method, node, fields))

    async def roll_back(self, node: MachineAddress) -> None:
        await self._change(f"{MACHINE}/Rollback", node)

    async def _need_force(self, node: MachineAddress) -> None:
        """A Talos that does not know the mode would boot in the usual one, and not say so."""
        version = await self.version(node)
        if version.parsed.line < _FORCE_SINCE.line:
            told = f"Talos {version.tag} has no forced reboot; it came with {_FORCE_SINCE}"
            raise Unsupported(problems.no_such_call(request_for(_REBOOT, node), told))

    def _actor(self, method: str, node: MachineAddress, row: Row) -> str:
        found = row.get("actor_id")
        if not isinstance(found, str) or not found:
            raise self._odd(method, node, "actor_id is not told")
        return found
