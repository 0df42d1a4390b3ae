"""Preconditions of changes to members of etcd."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.record import record
from stockman.steps.base import Gate, GateAnswer, Verdict
from stockman.steps.etcd.view import ObservedEtcd, observe_etcd
from stockman.steps.ports import Ports
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.talos.wait import MachineVm, is_stopped


@record
class EtcdQuorum(Gate):
    """etcd keeps quorum even after losing `may_lose` more members.

    A machine that is down already, because a run was killed in the middle, is nothing more to lose:
    whoever waited for it to be healthy before switching it on would wait for ever.
    """

    kind: ClassVar[str] = "etcd.quorum"
    controllers: tuple[TalosMachine, ...]
    may_lose: int = 1
    node: str = ""
    """The controller that goes down. Empty: any."""
    vm: MachineVm | None = None
    """The VM of that controller. None: unknown."""

    @property
    def summary(self) -> str:
        lost = self.node or f"{self.may_lose} more of its members"
        return f"etcd keeps its quorum without {lost}"

    async def check(self, ports: Ports) -> Verdict:
        if await is_stopped(ports, self.vm):
            return Verdict(
                answer=GateAnswer.GO, because=f"the VM of {self.node} is stopped already"
            )
        view = await observe_etcd(ports.to_talos(), self.controllers)
        if not view.voters:
            return Verdict(answer=GateAnswer.WAIT, because=view.shown)
        if self._left(view) >= view.quorum:
            return Verdict(answer=GateAnswer.GO, because=view.shown)
        if len(view.voters) == 1:
            # A single controller is always down while it boots: there is nothing to keep.
            return Verdict(answer=GateAnswer.GO, because=f"{view.shown}: this is the only one")
        if len(view.voters) - self.may_lose < view.quorum:
            return Verdict(answer=GateAnswer.STOP, because=f"{view.shown}: it can never lose one")
        return Verdict(answer=GateAnswer.WAIT, because=view.shown)

    def _left(self, view: ObservedEtcd) -> int:
        """Return the number of healthy voters while the machine is down."""
        member = view.member_of(self.node) if self.node else None
        if member is None:
            return view.healthy_voters - self.may_lose
        return sum(voter.id in view.healthy for voter in view.voters if voter.id != member.id)


@record
class EtcdHealthy(Gate):
    """Every controller has a healthy voting member of one etcd, and there are no other members."""

    kind: ClassVar[str] = "etcd.healthy"
    controllers: tuple[TalosMachine, ...]

    @property
    def summary(self) -> str:
        return f"etcd has {len(self.controllers)} healthy members"

    async def check(self, ports: Ports) -> Verdict:
        view = await observe_etcd(ports.to_talos(), self.controllers)
        if view.split:
            return Verdict(
                answer=GateAnswer.STOP, because=f"{' and '.join(view.split)} have an etcd each"
            )
        lacking = _missing_members(view, self.controllers)
        if lacking:
            return Verdict(answer=GateAnswer.WAIT, because=f"{view.shown}; {lacking}")
        return Verdict(answer=GateAnswer.GO, because=view.shown)


def _missing_members(view: ObservedEtcd, controllers: tuple[TalosMachine, ...]) -> str:
    for machine in controllers:
        member = view.member_of(machine.node)
        if member is None:
            return f"{machine.node} is not a member yet"
        if member.is_learner:
            return f"{machine.node} does not vote yet"
        if member.id not in view.healthy:
            return f"the member of {machine.node} is not healthy"
    strangers = {member.hostname for member in view.members} - {
        controller.node for controller in controllers
    }
    return f"{min(strangers)!r} is a member too" if strangers else ""


@record
class EtcdQuorumAfterRemoval(Gate):
    """etcd has its quorum, and still has it once a member is taken out for good.

    For members that leave and for dead ones: whoever is taken out is counted no more, so two of
    three may go on where the third is removed.
    """

    kind: ClassVar[str] = "etcd.spares"
    controllers: tuple[TalosMachine, ...]
    member: str
    """Its id, 16 hex digits."""

    @property
    def summary(self) -> str:
        return f"etcd keeps its quorum without member {self.member}"

    async def check(self, ports: Ports) -> Verdict:
        view = await observe_etcd(ports.to_talos(), self.controllers)
        return check_quorum_without(view, self.member)


def check_quorum_without(view: ObservedEtcd, member: str) -> Verdict:
    """Return whether etcd has quorum without a member."""
    if not view.voters:
        return Verdict(answer=GateAnswer.WAIT, because=view.shown)
    left = [voter for voter in view.voters if voter.hex != member]
    if not left:
        return Verdict(answer=GateAnswer.STOP, because=f"{view.shown}: this is the last one")
    if view.healthy_voters < view.quorum:
        return Verdict(answer=GateAnswer.WAIT, because=f"{view.shown}: nothing can be agreed on")
    healthy, needed = sum(voter.id in view.healthy for voter in left), len(left) // 2 + 1
    then = f"{view.shown}; without {member} {healthy} of {len(left)}, quorum {needed}"
    if healthy >= needed:
        return Verdict(answer=GateAnswer.GO, because=then)
    return Verdict(answer=GateAnswer.WAIT, because=then)
