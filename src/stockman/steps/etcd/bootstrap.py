"""The bootstrap of etcd, which happens once in the life of a cluster."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Conflict, Refused, StockmanError, Uncertain, Unreachable
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.etcd.view import ObservedEtcd, observe_etcd
from stockman.steps.ports import Ports
from stockman.steps.talos import problems
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.talos.wait import MachineWait


@record
class BootstrapEtcd(Action):
    """Bootstrap etcd on the first controller, if nothing knows an earlier etcd.

    It is done as soon as any controller has a member, so there is never a second etcd.
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

    @property
    def controllers(self) -> tuple[TalosMachine, ...]:
        return (self.machine, *self.others)

    async def done(self, ports: Ports) -> bool:
        view = await self._view(ports)
        return bool(view.members)

    async def run(self, ports: Ports) -> None:
        waiting = MachineWait(ports.clock, self.machine, self.patience, self.every)
        while not (view := await self._view(ports)).begun:
            self._refuse_unknown(view)
            if trace := await find_earlier_etcd(ports, self.controllers):
                raise Refused(problems.earlier_etcd(self.machine.node, trace))
            if await self._bootstrap(ports):
                break
            await waiting.longer("it is too early for it")
        while not (await self._view(ports)).members:
            await waiting.longer("its etcd does not answer yet")

    async def _bootstrap(self, ports: Ports) -> bool:
        """Request the bootstrap; existing data is that of an earlier attempt."""
        try:
            await ports.to_talos().bootstrap(self.machine.address)
        except Uncertain:
            return True
        except Conflict:
            return False
        return True

    async def _view(self, ports: Ports) -> ObservedEtcd:
        view = await observe_etcd(ports.to_talos(), self.controllers)
        if view.split:
            raise Refused(problems.split_etcd(view.split))
        return view

    def _refuse_unknown(self, view: ObservedEtcd) -> None:
        """Raise `Unreachable` unless every controller shows that its data directory is empty."""
        for report in view.unknown:
            known = {machine.node: machine for machine in self.controllers}
            address = known[report.node].address
            raise Unreachable(problems.machine_unreachable(report.node, address, report.why))


@record
class EtcdNotBootstrapped(Gate):
    """No controller, Kubernetes API or recorded run knows an earlier etcd, or etcd runs."""

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
        if view.members:
            return Verdict(answer=GateAnswer.GO, because=view.shown)
        if view.begun:
            return Verdict(
                answer=GateAnswer.WAIT,
                because=f"{view.begun[0]} has data, and its etcd does not answer",
            )
        if trace := await find_earlier_etcd(ports, self.controllers):
            return Verdict(answer=GateAnswer.STOP, because=trace, fix=problems.FIX_EARLIER_ETCD)
        return Verdict(answer=GateAnswer.GO, because=view.shown)


async def find_earlier_etcd(ports: Ports, controllers: tuple[TalosMachine, ...]) -> str:
    """Return what shows that Kubernetes or a recorded run knows an earlier etcd. Empty: nothing."""
    if ports.kubernetes is not None:
        try:
            version = await ports.kubernetes.server_version()
        except Unreachable:
            pass
        except StockmanError as error:
            return f"something answers at the address of the Kubernetes API: {error.problem.why}"
        else:
            return f"the Kubernetes API answers, with version {version.tag}"
    return await ports.earlier_etcd(tuple(machine.node for machine in controllers))
