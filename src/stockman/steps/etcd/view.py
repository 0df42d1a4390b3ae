"""etcd as all controllers together tell it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.steps.talos.machine import READ_ERRORS, TalosMachine
from stockman.talos.api.client import TalosClient
from stockman.talos.records.etcd import EtcdMember, EtcdStatus

_ETCD = "etcd"
_WAITS = "Preparing"
"""How Talos calls an etcd without data that waits to be begun or to join."""
_RUNS = "Running"


@record
class EtcdReport:
    """What one controller tells of its etcd."""

    node: str
    state: str = ""
    """Of the service: `Preparing`, `Running`, `Failed`. Empty: not known."""
    why: str = ""
    """Why something is not known."""
    status: EtcdStatus | None = None
    """None: not told."""
    members: tuple[EtcdMember, ...] = ()
    """As this member has them. Empty: not told."""

    @property
    def waits(self) -> bool:
        """Whether it has no data: it waits until etcd begins, or to join."""
        return self.state == _WAITS

    @property
    def healthy(self) -> bool:
        return self.status is not None and self.status.leader is not None and not self.status.errors


@record
class ObservedEtcd:
    """etcd as all controllers together tell it."""

    answers: tuple[EtcdReport, ...]

    @property
    def members(self) -> tuple[EtcdMember, ...]:
        """Members as the leader has them, or else another that is healthy. Empty: nobody told."""
        told = [one for one in self.answers if one.members]
        told.sort(key=lambda one: not (one.status is not None and one.status.is_leader))
        return told[0].members if told else ()

    @property
    def voters(self) -> tuple[EtcdMember, ...]:
        return tuple(one for one in self.members if not one.is_learner)

    @property
    def healthy(self) -> frozenset[int]:
        """Ids of members that answer, follow a leader and complain of nothing."""
        found = (one.status.member for one in self.answers if one.healthy and one.status)
        return frozenset(found)

    @property
    def healthy_voters(self) -> int:
        return sum(one.id in self.healthy for one in self.voters)

    @property
    def quorum(self) -> int:
        return len(self.voters) // 2 + 1

    @property
    def begun(self) -> tuple[str, ...]:
        """Controllers whose etcd has data, as far as is known."""
        return tuple(one.node for one in self.answers if one.state == _RUNS or one.status)

    @property
    def unknown(self) -> tuple[EtcdReport, ...]:
        """Controllers of which nobody knows whether they have data."""
        return tuple(one for one in self.answers if not one.waits and one.node not in self.begun)

    @property
    def split(self) -> tuple[str, ...]:
        """Two controllers whose members do not know each other. Empty: there are none."""
        told = [one for one in self.answers if one.members]
        for one in told:
            for other in told:
                ids = {member.id for member in one.members}
                if not ids & {member.id for member in other.members}:
                    return (one.node, other.node)
        return ()

    @property
    def shown(self) -> str:
        """The figures in a line."""
        if not self.members:
            waits = sum(one.waits for one in self.answers)
            return f"no member answers, {waits} of {len(self.answers)} controllers have no data"
        return f"{self.healthy_voters} of {len(self.voters)} voters healthy, quorum {self.quorum}"

    def member_of(self, hostname: str) -> EtcdMember | None:
        """The member of a machine. None: it is none."""
        return next((one for one in self.members if one.hostname == hostname), None)


async def observe_etcd(talos: TalosClient, controllers: Iterable[TalosMachine]) -> ObservedEtcd:
    """Ask all controllers at once; those who do not answer are unknown."""
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(read_etcd_report(talos, one)) for one in controllers]
    return ObservedEtcd(answers=tuple(one.result() for one in asked))


async def read_etcd_report(talos: TalosClient, machine: TalosMachine) -> EtcdReport:
    """What one controller tells."""
    try:
        states = {one.id: one.state for one in await talos.services(machine.address)}
    except READ_ERRORS as no:
        return EtcdReport(node=machine.node, why=no.problem.why)
    state = states.get(_ETCD, "")
    if state != _RUNS:
        why = f"its etcd is {state}" if state else "its etcd is not set up yet"
        return EtcdReport(node=machine.node, state=state, why=why)
    try:
        status = await talos.etcd_status(machine.address)
    except READ_ERRORS as no:
        return EtcdReport(node=machine.node, state=state, why=no.problem.why)
    members = await _members(talos, machine.address)
    return EtcdReport(node=machine.node, state=state, status=status, members=members)


async def _members(talos: TalosClient, address: MachineAddress) -> tuple[EtcdMember, ...]:
    try:
        return await talos.etcd_members(address)
    except READ_ERRORS:
        return ()


def reports_by_node(view: ObservedEtcd) -> Mapping[str, EtcdReport]:
    """Answers by the name of their controller."""
    return {one.node: one for one in view.answers}
