"""A member of etcd that leaves by itself."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar

from stockman.model.errors import NotFound, Refused, Uncertain, Unreachable
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.etcd.view import EtcdReport, ObservedEtcd, observe_etcd, read_etcd_report
from stockman.steps.ports import Ports
from stockman.steps.talos import problems
from stockman.steps.talos.machine import TalosMachine, is_same_boot, refuse_other_machine
from stockman.steps.talos.wait import MachineWait
from stockman.talos.api.client import TalosClient
from stockman.talos.records.operations import ResetRequest, WipeMode


@record
class LeaveEtcd(Action):
    """Make a controller leave etcd, which deletes its data."""

    kind: ClassVar[str] = "etcd.leave"
    machine: TalosMachine
    member: str
    """Its id, 16 hex digits."""
    others: tuple[TalosMachine, ...]
    """Remaining controllers, whose answers are used."""

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
        return not is_member(await read_members(ports, self.others), self.member)

    async def run(self, ports: Ports) -> None:
        talos, machine = ports.to_talos(), self.machine
        if await self.done(ports):
            return
        await refuse_other_member(talos, machine, self.member)
        # The remaining members report whether it left.
        with suppress(Uncertain):
            await talos.leave_etcd(machine.address)


async def refuse_other_member(talos: TalosClient, machine: TalosMachine, member: str) -> None:
    """Raise `Refused` if a machine has another etcd member than the plan says."""
    status = await talos.etcd_status(machine.address)
    if f"{status.member:016x}" != member:
        why = f"its member is {status.member:016x}, and was {member}"
        raise Refused(problems.config_changed_meanwhile(machine.node, machine.address, why))


def refuse_running_member(reports: Iterable[EtcdReport], member: str, hostname: str) -> None:
    """Raise `Refused` if a member that should be dead answers."""
    for report in reports:
        if report.status is not None and f"{report.status.member:016x}" == member:
            raise Refused(problems.member_still_running(member, hostname))


async def read_members(ports: Ports, controllers: tuple[TalosMachine, ...]) -> ObservedEtcd:
    """Return etcd as reported by controllers; raises `Unreachable` if none reports the members."""
    view = await observe_etcd(ports.to_talos(), controllers)
    if not view.members:
        report = view.answers[0]
        address = controllers[0].address
        raise Unreachable(
            problems.machine_unreachable(report.node, address, report.why or view.shown)
        )
    return view


def is_member(view: ObservedEtcd, member: str) -> bool:
    """Return whether an id belongs to a member."""
    return any(known.hex == member for known in view.members)


@record
class RemoveEtcdMember(Action):
    """Remove a dead member from etcd by its id."""

    kind: ClassVar[str] = "etcd.remove-member"
    member: str
    """Its id, 16 hex digits."""
    hostname: str
    """Empty: it never started."""
    others: tuple[TalosMachine, ...]
    """Remaining controllers; one of them removes the member."""
    machine: TalosMachine | None = None
    """The machine of the member. None: unknown."""

    @property
    def summary(self) -> str:
        return f"remove member {self.member} ({self.hostname or 'never started'}) from etcd"

    @property
    def touches(self) -> tuple[str, ...]:
        return ("etcd",)

    @property
    def destroys(self) -> str:
        return f"etcd member {self.member} ({self.hostname or 'never started'})"

    async def done(self, ports: Ports) -> bool:
        return not is_member(await read_members(ports, self.others), self.member)

    async def run(self, ports: Ports) -> None:
        view = await read_members(ports, self.others)
        if not is_member(view, self.member):
            return
        talos = ports.to_talos()
        reports = list(view.answers)
        if self.machine is not None:
            reports.append(await read_etcd_report(talos, self.machine))
        refuse_running_member(reports, self.member, self.hostname)
        node = next(report.node for report in view.answers if report.members)
        address = next(machine.address for machine in self.others if machine.node == node)
        # Somebody else removed it, or the next check sees the result.
        with suppress(NotFound, Uncertain):
            await talos.remove_etcd_member(address, int(self.member, 16))


def data_loss_text(node: str) -> str:
    """Return what is permanently lost."""
    return f"what pods keep on the system disk of {node}, with images and logs"


@record
class RejoinEtcd(Action):
    """Erase the etcd data of a controller that is not a member, and reboot it once.

    The boot id of the plan identifies the boot: a machine that has booted since is not erased.
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
        return data_loss_text(self.machine.node)

    async def done(self, ports: Ports) -> bool:
        view = await observe_etcd(ports.to_talos(), self.others)
        return view.member_of(self.machine.node) is not None

    async def run(self, ports: Ports) -> None:
        talos, machine = ports.to_talos(), self.machine
        if await is_same_boot(talos, machine, self.boot_id):
            await refuse_other_machine(talos, machine)
            reset = ResetRequest(
                graceful=False,
                reboot=True,
                mode=WipeMode.SYSTEM_DISK,
                partitions=("EPHEMERAL",),
            )
            # The loop below checks whether it is a member again.
            with suppress(Uncertain):
                await talos.reset(machine.address, reset)
        waiting = MachineWait(ports.clock, machine, self.patience, self.every)
        while not await self.done(ports):
            await waiting.longer("the other members of etcd do not have it yet")


@record
class NotEtcdMember(Gate):
    """etcd has quorum, and a controller is not a member."""

    kind: ClassVar[str] = "etcd.outside"
    node: str
    others: tuple[TalosMachine, ...]
    """Controllers that are members."""

    @property
    def summary(self) -> str:
        return f"etcd works without {self.node}, which is no member"

    async def check(self, ports: Ports) -> Verdict:
        view = await observe_etcd(ports.to_talos(), self.others)
        if view.member_of(self.node) is not None:
            # Its data counts for the quorum.
            return Verdict(answer=GateAnswer.STOP, because=f"{view.shown}; {self.node} is a member")
        if not view.voters or view.healthy_voters < view.quorum:
            return Verdict(answer=GateAnswer.WAIT, because=view.shown)
        return Verdict(answer=GateAnswer.GO, because=view.shown)
