"""What every check gets to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.health.asking import Asker
from stockman_lab.talos.health.nodes import Nodes
from stockman_lab.talos.health.outcome import Failing

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import Call
    from stockman_lab.talos.machine import Machine

_PORT = 50000


@dataclass(frozen=True, slots=True)
class Checking:
    """A health check under way."""

    call: Call
    nodes: Nodes

    @property
    def asker(self) -> Asker:
        return Asker(self.call)

    def machine_at(self, address: str) -> Machine | None:
        """The machine at an address, if it can be asked. None: it is none of the lab's."""
        machine = self.call.land.machine_at(address)
        if machine is None or not machine.is_reachable:
            raise Failing(
                "rpc error: code = Unavailable desc = connection error: desc = "
                f'"transport: Error while dialing: dial tcp {address}:{_PORT}: '
                'connect: no route to host"'
            )
        return machine
