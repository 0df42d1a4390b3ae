"""etcd as reported by all controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.steps.talos.machine import READ_ERRORS, TalosMachine
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import EtcdMember, EtcdStatus

_ETCD = "etcd"
_WAITS = "Preparing"
"""The state of an etcd that waits to be bootstrapped or to join, or whose image is pulled."""
_RUNS = "Running"


@record
class EtcdReport:
    """What one controller tells of its etcd."""

    node: str
    state: str = ""
    """Of the service: `Preparing`, `Running`, `Failed`. Empty: not known."""
    why: str = ""
    """Why something is not known."""
    has_data: bool | None = None
    """Whether its data directory has files. None: unknown."""
    status: EtcdStatus | None = None
    """None: not told."""
    members: tuple[EtcdMember, ...] = ()
    """As this member has them. Empty: not told."""

    @property
    def waits(self) -> bool:
        """Whether it has no data: it waits until etcd begins, or to join."""
        return self.state == _WAITS and self.has_data is False

    @property
    def healthy(self) -> bool:
        return self.status is not None and self.status.leader is not None and not self.status.errors


@record
class ObservedEtcd:
    """etcd as reported by all controllers."""

    answers: tuple[EtcdReport, ...]

    @property
    def members(self) -> tuple[EtcdMember, ...]:
        """Members as reported by the leader, else by another controller. Empty: unknown."""
        reports = [report for report in self.answers if report.members]
        reports.sort(key=lambda report: not (report.status is not None and report.status.is_leader))
        return reports[0].members if reports else ()

    @property
    def voters(self) -> tuple[EtcdMember, ...]:
        return tuple(member for member in self.members if not member.is_learner)

    @property
    def healthy(self) -> frozenset[int]:
        """Ids of members that answer, have a leader and report no error."""
        ids = (report.status.member for report in self.answers if report.healthy and report.status)
        return frozenset(ids)

    @property
    def healthy_voters(self) -> int:
        return sum(voter.id in self.healthy for voter in self.voters)

    @property
    def quorum(self) -> int:
        return len(self.voters) // 2 + 1

    @property
    def begun(self) -> tuple[str, ...]:
        """Controllers whose etcd is known to have data."""
        return tuple(
            report.node
            for report in self.answers
            if report.state == _RUNS or report.status or report.has_data
        )

    @property
    def unknown(self) -> tuple[EtcdReport, ...]:
        """Controllers for which it is unknown whether they have data."""
        return tuple(
            report for report in self.answers if not report.waits and report.node not in self.begun
        )

    @property
    def split(self) -> tuple[str, ...]:
        """Two controllers that report disjoint members. Empty: none."""
        reports = [report for report in self.answers if report.members]
        for report in reports:
            for second in reports:
                ids = {member.id for member in report.members}
                if not ids & {member.id for member in second.members}:
                    return (report.node, second.node)
        return ()

    @property
    def shown(self) -> str:
        """The numbers in one line."""
        if not self.members:
            waits = sum(report.waits for report in self.answers)
            return f"no member answers, {waits} of {len(self.answers)} controllers have no data"
        return f"{self.healthy_voters} of {len(self.voters)} voters healthy, quorum {self.quorum}"

    def member_of(self, hostname: str) -> EtcdMember | None:
        """Return the member on a machine. None: it is not a member."""
        return next((member for member in self.members if member.hostname == hostname), None)


async def observe_etcd(talos: TalosClient, controllers: Iterable[TalosMachine]) -> ObservedEtcd:
    """Query all controllers in parallel; those that do not answer are unknown."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(read_etcd_report(talos, machine)) for machine in controllers]
    return ObservedEtcd(answers=tuple(task.result() for task in tasks))


async def read_etcd_report(talos: TalosClient, machine: TalosMachine) -> EtcdReport:
    """Return the report of one controller."""
    try:
        states = {service.id: service.state for service in await talos.services(machine.address)}
    except READ_ERRORS as error:
        return EtcdReport(node=machine.node, why=error.problem.why)
    state = states.get(_ETCD, "")
    if state != _RUNS:
        why = f"its etcd is {state}" if state else "its etcd is not set up yet"
        has_data = await _has_data(talos, machine.address)
        return EtcdReport(node=machine.node, state=state, why=why, has_data=has_data)
    try:
        status = await talos.etcd_status(machine.address)
    except READ_ERRORS as error:
        return EtcdReport(node=machine.node, state=state, why=error.problem.why)
    members = await _members(talos, machine.address)
    return EtcdReport(node=machine.node, state=state, status=status, members=members)


async def _has_data(talos: TalosClient, address: MachineAddress) -> bool | None:
    try:
        return await talos.has_etcd_data(address)
    except READ_ERRORS:
        return None


async def _members(talos: TalosClient, address: MachineAddress) -> tuple[EtcdMember, ...]:
    try:
        return await talos.etcd_members(address)
    except READ_ERRORS:
        return ()


def reports_by_node(view: ObservedEtcd) -> Mapping[str, EtcdReport]:
    """Return the reports by controller."""
    return {report.node: report for report in view.answers}
