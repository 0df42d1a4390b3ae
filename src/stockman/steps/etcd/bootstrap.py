"""The beginning of etcd, which happens once in the life of a cluster."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Conflict, Refused, Uncertain, Unreachable
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.etcd.view import ObservedEtcd, observe_etcd
from stockman.steps.ports import Ports
from stockman.steps.talos import problems
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.talos.wait import MachineWait
from stockman.talos.api.client import TalosClient


@record
class BootstrapEtcd(Action):
    """Begin etcd on the first controller, where no controller has data of any.

    It is done as soon as any controller has a member: nobody begins a second etcd beside it.
    """

    kind: ClassVar[str] = "etcd.bootstrap"
    machine: TalosMachine
    """The one that begins."""
    others: tuple[TalosMachine, ...] = ()
    """All other controllers, which join."""
    every: float = 5.0
    patience: float = 900.0

    @property
    def summary(self) -> str:
        return f"begin etcd on {self.machine.node}"

    @property
    def touches(self) -> tuple[str, ...]:
        return ("etcd", self.machine.touched)

    async def done(self, ports: Ports) -> bool:
        view = await self._view(ports.to_talos())
        return bool(view.members)

    async def run(self, ports: Ports) -> None:
        talos = ports.to_talos()
        waiting = MachineWait(ports.clock, self.machine, self.patience, self.every)
        view = await self._view(talos)
        if not view.begun:
            self._refuse_unknown(view)
            while not await self._begun(talos):
                await waiting.longer("it is too early for it")
        while not (await self._view(talos)).members:
            await waiting.longer("its etcd does not answer yet")

    async def _begun(self, talos: TalosClient) -> bool:
        """Request the bootstrap; existing data is that of an earlier attempt."""
        try:
            await talos.bootstrap(self.machine.address)
        except Uncertain:
            return True
        except Conflict:
            return False
        return True

    async def _view(self, talos: TalosClient) -> ObservedEtcd:
        view = await observe_etcd(talos, (self.machine, *self.others))
        if view.split:
            raise Refused(problems.split_etcd(view.split))
        return view

    def _refuse_unknown(self, view: ObservedEtcd) -> None:
        for report in view.unknown:
            known = {machine.node: machine for machine in (self.machine, *self.others)}
            address = known[report.node].address
            raise Unreachable(problems.machine_unreachable(report.node, address, report.why))


@record
class EtcdNotBootstrapped(Gate):
    """No controller has etcd data, or etcd already runs."""

    kind: ClassVar[str] = "etcd.not-begun"
    controllers: tuple[TalosMachine, ...]

    @property
    def summary(self) -> str:
        return "no controller has data of an etcd"

    async def check(self, ports: Ports) -> Verdict:
        view = await observe_etcd(ports.to_talos(), self.controllers)
        if view.split:
            return Verdict(
                answer=GateAnswer.STOP, because=f"{' and '.join(view.split)} have an etcd each"
            )
        if view.unknown:
            report = view.unknown[0]
            return Verdict(answer=GateAnswer.WAIT, because=f"{report.node}: {report.why}")
        if view.begun and not view.members:
            return Verdict(
                answer=GateAnswer.WAIT,
                because=f"{view.begun[0]} has data, and its etcd does not answer",
            )
        return Verdict(answer=GateAnswer.GO, because=view.shown)
