"""A member of etcd that leaves by itself."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from stockman.model.errors import Refused, Uncertain, Unreachable
from stockman.model.record import record
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action
from stockman.steps.etcd_view import EtcdView, etcd_view
from stockman.steps.ports import Ports
from stockman.steps.talos_machine import TalosMachine


@record
class LeaveEtcd(Action):
    """Let a controller leave etcd, with its data."""

    kind: ClassVar[str] = "etcd.leave"
    machine: TalosMachine
    member: str
    """Its id, 16 hex digits."""
    others: tuple[TalosMachine, ...]
    """Controllers that stay: what they say counts."""

    @property
    def summary(self) -> str:
        return f"let {self.machine.node} leave etcd"

    @property
    def touches(self) -> tuple[str, ...]:
        return ("etcd", self.machine.touched)

    @property
    def destroys(self) -> str:
        return f"the copy of etcd on {self.machine.node}"

    async def done(self, ports: Ports) -> bool:
        return not is_member(await told(ports, self.others), self.member)

    async def run(self, ports: Ports) -> None:
        talos, machine = ports.to_talos(), self.machine
        if await self.done(ports):
            return
        status = await talos.etcd_status(machine.address)
        if f"{status.member:016x}" != self.member:
            why = f"its member is {status.member:016x}, and was {self.member}"
            raise Refused(problems.moved(machine.node, machine.address, why))
        # The others know whether it left.
        with suppress(Uncertain):
            await talos.leave_etcd(machine.address)


async def told(ports: Ports, controllers: tuple[TalosMachine, ...]) -> EtcdView:
    """What controllers tell of etcd; `Unreachable` where none of them knows the members."""
    view = await etcd_view(ports.to_talos(), controllers)
    if not view.members:
        one = view.answers[0]
        address = controllers[0].address
        raise Unreachable(problems.not_reached(one.node, address, one.why or view.shown))
    return view


def is_member(view: EtcdView, member: str) -> bool:
    """Whether an id is that of a member."""
    return any(one.hex == member for one in view.members)
