"""The beginning of etcd, which happens once in the life of a cluster."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Conflict, Refused, Uncertain, Unreachable
from stockman.model.record import record
from stockman.ports.talos import Talos
from stockman.steps import talos_problems as problems
from stockman.steps.base import Action, Answer, Gate, Verdict
from stockman.steps.etcd_view import EtcdView, etcd_view
from stockman.steps.ports import Ports
from stockman.steps.talos_machine import TalosMachine
from stockman.steps.talos_waiting import Waiting


@record
class Bootstrap(Action):
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
        waiting = Waiting(ports.clock, self.machine, self.patience, self.every)
        view = await self._view(talos)
        if not view.begun:
            self._refuse_unknown(view)
            while not await self._begun(talos):
                await waiting.longer("it is too early for it")
        while not (await self._view(talos)).members:
            await waiting.longer("its etcd does not answer yet")

    async def _begun(self, talos: Talos) -> bool:
        """Whether it was asked for; data that is there already is that of an earlier attempt."""
        try:
            await talos.bootstrap(self.machine.address)
        except Uncertain:
            return True
        except Conflict:
            return False
        return True

    async def _view(self, talos: Talos) -> EtcdView:
        view = await etcd_view(talos, (self.machine, *self.others))
        if view.split:
            raise Refused(problems.etcd_split(view.split))
        return view

    def _refuse_unknown(self, view: EtcdView) -> None:
        for one in view.unknown:
            known = {machine.node: machine for machine in (self.machine, *self.others)}
            address = known[one.node].address
            raise Unreachable(problems.not_reached(one.node, address, one.why))


@record
class EtcdNotBegun(Gate):
    """Every controller is known to have no data of etcd, or etcd runs already."""

    kind: ClassVar[str] = "etcd.not-begun"
    controllers: tuple[TalosMachine, ...]

    @property
    def summary(self) -> str:
        return "no controller has data of an etcd"

    async def check(self, ports: Ports) -> Verdict:
        view = await etcd_view(ports.to_talos(), self.controllers)
        if view.split:
            return Verdict(
                answer=Answer.STOP, because=f"{' and '.join(view.split)} have an etcd each"
            )
        if view.unknown:
            one = view.unknown[0]
            return Verdict(answer=Answer.WAIT, because=f"{one.node}: {one.why}")
        if view.begun and not view.members:
            return Verdict(
                answer=Answer.WAIT,
                because=f"{view.begun[0]} has data, and its etcd does not answer",
            )
        return Verdict(answer=Answer.GO, because=view.shown)
