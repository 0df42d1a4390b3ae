"""Calls last no longer than the boot that they began in."""

from __future__ import annotations

from dataclasses import dataclass

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import ApiMachine, Patience
from stockman_lab.talos.api.refusal import Refusal

LOST = "error reading from server: EOF"


@dataclass(frozen=True, slots=True)
class BoundPatience:
    """Waits with a machine; a call that waits again after that went down has lost its connection.

    So whatever happened before can be told yet.
    """

    patience: Patience
    machine: ApiMachine
    boot: int

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass in the world."""
        await self.patience.sleep(seconds)
        self._check()

    async def changed(self) -> None:
        """Return as soon as anything in the world is different."""
        self._check()
        await self.patience.changed()

    def _check(self) -> None:
        api = self.machine.api
        if api is None or api.boot != self.boot:
            raise Refusal(GrpcCode.UNAVAILABLE, LOST)
