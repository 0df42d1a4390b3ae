"""The way back for a controller whose member somebody took out of etcd.

etcd never lets a member in again that was removed: its data has to go first. Talos keeps that data
on the partition EPHEMERAL, with everything else that pods and the kubelet keep there.
"""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from stockman.model.errors import Refused, Uncertain
from stockman.model.record import record
from stockman.ports.talos.power import Reset, WipeMode
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action, Answer, Gate, Verdict
from stockman.steps.etcd_view import etcd_view
from stockman.steps.ports import Ports
from stockman.steps.talos_machine import NO_ANSWER, TalosMachine
from stockman.steps.talos_waiting import Waiting


def lost_with(node: str) -> str:
    """What is gone for good, in plain words."""
    return f"what pods keep on the system disk of {node}, with images and logs"


@record
class RejoinEtcd(Action):
    """Erase what a controller keeps of an etcd that it is no member of, and boot it, once.

    The boot that it was planned in is known: a machine that has booted since is not erased again.
    """

    kind: ClassVar[str] = "etcd.rejoin"
    machine: TalosMachine
    boot_id: str
    others: tuple[TalosMachine, ...]
    """Controllers that are members."""
    every: float = 5.0
    patience: float = 1200.0

    @property
    def summary(self) -> str:
        return f"erase the etcd of {self.machine.node} and reboot it, so that it joins anew"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.machine.touched, "etcd")

    @property
    def destroys(self) -> str:
        return lost_with(self.machine.node)

    async def done(self, ports: Ports) -> bool:
        view = await etcd_view(ports.to_talos(), self.others)
        return view.member_of(self.machine.node) is not None

    async def run(self, ports: Ports) -> None:
        talos, machine = ports.to_talos(), self.machine
        if await self._is_same_boot(ports):
            await self._refuse_others(ports)
            reset = Reset(
                graceful=False,
                reboot=True,
                mode=WipeMode.SYSTEM_DISK,
                partitions=("EPHEMERAL",),
            )
            # Whether it comes back as a member is seen.
            with suppress(Uncertain):
                await talos.reset(machine.address, reset)
        waiting = Waiting(ports.clock, machine, self.patience, self.every)
        while not await self.done(ports):
            await waiting.longer("the other members of etcd do not have it yet")

    async def _is_same_boot(self, ports: Ports) -> bool:
        """Whether it has not booted yet; one that is silent is on its way."""
        try:
            return await ports.to_talos().boot_id(self.machine.address) == self.boot_id
        except NO_ANSWER:
            return False

    async def _refuse_others(self, ports: Ports) -> None:
        machine = self.machine
        if machine.uuid is None:
            return
        found = await ports.to_talos().system_uuid(machine.address)
        if found != machine.uuid:
            why = f"its UUID is {found}, and that of {machine.node} is {machine.uuid}"
            raise Refused(problems.another_machine(machine.node, machine.address, why))


@record
class OutsideEtcd(Gate):
    """etcd has its quorum, and a controller is no member of it."""

    kind: ClassVar[str] = "etcd.outside"
    node: str
    others: tuple[TalosMachine, ...]
    """Controllers that are members."""

    @property
    def summary(self) -> str:
        return f"etcd works without {self.node}, which is no member"

    async def check(self, ports: Ports) -> Verdict:
        view = await etcd_view(ports.to_talos(), self.others)
        if view.member_of(self.node) is not None:
            # It holds data that others count on.
            return Verdict(answer=Answer.STOP, because=f"{view.shown}; {self.node} is a member")
        if not view.voters or view.healthy_voters < view.quorum:
            return Verdict(answer=Answer.WAIT, because=view.shown)
        return Verdict(answer=Answer.GO, because=view.shown)
