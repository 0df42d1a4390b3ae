"""Other configurations for machines that run, and files for clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stockman.model.names import MachineAddress
from stockman.planning.observed.talos import ObservedTalos
from stockman.planning.talos.bootstrap import (
    bootstrap_steps,
    etcd_healthy_steps,
    machine_running_step,
)
from stockman.planning.talos.changes import (
    BootstrapEtcdChange,
    ClientFileChange,
    EtcdStartingChange,
    JoinChange,
    LeaveChange,
    ReconfigureChange,
    RejoinChange,
    RemoveDeadMemberChange,
    TalosChange,
    missing_controllers,
)
from stockman.planning.talos.desired import DesiredTalos, talos_machine
from stockman.planning.talos.rejoin import rejoin_step
from stockman.planning.talos.step_ids import (
    ETCD_LANE,
    REBOOT_LANE,
    await_step_id,
    configure_step_id,
    join_step_id,
)
from stockman.steps.base import Gate
from stockman.steps.etcd.gates import EtcdHealthy, EtcdQuorum, EtcdQuorumAfterRemoval
from stockman.steps.etcd.members import LeaveEtcd, RemoveEtcdMember
from stockman.steps.step import Stage, Step
from stockman.steps.talos.configuration import (
    ChangeConfiguration,
    ConfigureMachine,
    RebootIntoConfiguration,
)
from stockman.steps.talos.gates import MachineIdentity, MachineRunning
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.talos.reset import ResetMachine
from stockman.steps.talos.wait import AwaitMachine, MachineVm


def reconfigure_step(
    change: ReconfigureChange, wish: DesiredTalos, quorum_of: tuple[TalosMachine, ...]
) -> Step:
    """Another configuration for a machine, with a boot where it needs one.

    A controller goes down only while those of `quorum_of` can spare it. Empty: there is no etcd.
    """
    if not change.boot_id:
        return Step(
            id=f"talos/change/{change.node}",
            action=ChangeConfiguration(
                machine=change.machine,
                minor=wish.minor,
                before=change.before,
                digest=change.digest,
            ),
            stage=Stage.TALOS,
            reason=change.why,
            gates=(MachineIdentity(machine=change.machine),),
            lanes=(ETCD_LANE,) if change.is_controller else (),
            node=change.node,
            seconds=3.0,
        )
    quorum: tuple[Gate, ...] = ()
    if change.is_controller and quorum_of:
        quorum = (EtcdQuorum(controllers=quorum_of, node=change.node),)
    return Step(
        id=f"talos/reboot-into/{change.node}",
        action=RebootIntoConfiguration(
            machine=change.machine,
            minor=wish.minor,
            before=change.before,
            digest=change.digest,
            boot_id=change.boot_id,
        ),
        stage=Stage.TALOS,
        reason=change.why,
        gates=(MachineIdentity(machine=change.machine), *quorum),
        holds=wish.holds.get(change.node, ()),
        needs=wish.drained_by.get(change.node, ()),
        deadline=1800.0,
        lanes=(REBOOT_LANE, *((ETCD_LANE,) if change.is_controller else ())),
        node=change.node,
        seconds=120.0,
    )


def client_file_step(change: ClientFileChange) -> Step:
    """A file that clients of the cluster read."""
    return Step(
        id=f"talos/client-file/{change.action.file}",
        action=change.action,
        stage=Stage.TALOS,
        reason=change.why,
        seconds=0.5,
    )


def steps_before_vm_deletion(changes: Iterable[TalosChange], node: str) -> tuple[str, ...]:
    """Steps that are finished before the VM of a node may be deleted, or made anew."""
    found: list[str] = []
    for change in changes:
        if change.node != node:
            continue
        if isinstance(change, LeaveChange):
            found.append(f"talos/reset/{node}")
        elif isinstance(change, RemoveDeadMemberChange):
            found.append(f"talos/remove-member/{node}")
    return tuple(found)


def talos_steps(
    wish: DesiredTalos, observed: ObservedTalos, changes: Iterable[TalosChange]
) -> tuple[Step, ...]:
    """The steps that make changes true, with what each of them waits for."""
    return tuple(_Rollout(wish, observed, tuple(changes)).steps())


class _Rollout:
    def __init__(
        self, wish: DesiredTalos, observed: ObservedTalos, changes: tuple[TalosChange, ...]
    ) -> None:
        self._wish = wish
        self._observed = observed
        self._changes = changes
        self._joins = {one.node: one for one in changes if isinstance(one, JoinChange)}
        self._going = {
            one.node for one in changes if isinstance(one, LeaveChange | RemoveDeadMemberChange)
        }
        self._begins = any(isinstance(one, BootstrapEtcdChange) for one in changes)
        self._waits = bool(missing_controllers(wish, observed, changes))
        """Whether machines get their configuration, and etcd begins in a later run."""
        self._controllers = tuple(talos_machine(node) for node in wish.controllers)
        self._members = self._staying()
        """Controllers that etcd has while one after the other joins or goes."""
        self._last = ""
        """The step that changed the members of etcd last."""

    def steps(self) -> Iterator[Step]:
        for change in self._changes:
            if isinstance(change, RejoinChange):
                yield self._rejoined(change)
        for change in self._changes:
            if (
                isinstance(change, LeaveChange | RemoveDeadMemberChange)
                and change.node not in self._joins
            ):
                yield from self._gone(change)
        for change in self._changes:
            if isinstance(change, JoinChange):
                yield from self._replaced(change)
        yield from self._begun()
        quorum_of = () if self._begins else self._controllers
        for change in self._changes:
            if isinstance(change, ReconfigureChange):
                yield reconfigure_step(change, self._wish, quorum_of)
            elif isinstance(change, ClientFileChange):
                yield client_file_step(change)

    def _begun(self) -> Iterator[Step]:
        address, joins = self._wish.shared_address, self._joins.values()
        for change in self._changes:
            if isinstance(change, BootstrapEtcdChange):
                yield from bootstrap_steps(change, self._controllers, joins, address)
        if any(isinstance(one, EtcdStartingChange) for one in self._changes):
            yield from etcd_healthy_steps(self._controllers, address)

    def _staying(self) -> list[TalosMachine]:
        view = self._observed.etcd
        members = {one.hostname for one in view.members}
        known = {**self._leaving(), **{one.node: one for one in self._controllers}}
        return [one for name, one in known.items() if name in members]

    def _leaving(self) -> dict[str, TalosMachine]:
        found: dict[str, TalosMachine] = {}
        for name, address in self._wish.leaving.items():
            found[name] = TalosMachine(node=name, address=MachineAddress(address))
        return found

    # -- machines that were taken out ------------------------------------------------------

    def _rejoined(self, change: RejoinChange) -> Step:
        """First of all: whoever counts the members of etcd afterwards counts on this one."""
        node, others = change.node, self._others(change.node)
        step = replace(
            rejoin_step(change.machine, change.boot_id, others, change.why),
            holds=self._wish.holds.get(node, ()),
            needs=self._after(self._wish.drained_by.get(node, ())),
            lanes=(REBOOT_LANE, ETCD_LANE),
        )
        self._last = step.id
        self._members = [*others, change.machine]
        return step

    # -- machines that go ------------------------------------------------------------------

    def _gone(self, change: LeaveChange | RemoveDeadMemberChange) -> Iterator[Step]:
        if isinstance(change, RemoveDeadMemberChange):
            yield self._removed(change)
            return
        needs = self._wish.drained_by.get(change.node, ())
        holds = self._wish.holds.get(change.node, ())
        if change.member:
            others = self._others(change.node)
            leave = f"talos/leave/{change.node}"
            yield Step(
                id=leave,
                action=LeaveEtcd(machine=change.machine, member=change.member, others=others),
                stage=Stage.TALOS,
                reason=change.why,
                gates=(
                    EtcdQuorumAfterRemoval(
                        controllers=(*others, change.machine), member=change.member
                    ),
                ),
                holds=holds,
                needs=self._after((*needs,)),
                deadline=900.0,
                lanes=(ETCD_LANE,),
                node=change.node,
                seconds=20.0,
            )
            self._last, needs = leave, (leave,)
            self._members = list(others)
        yield Step(
            id=f"talos/reset/{change.node}",
            action=ResetMachine(machine=change.machine),
            stage=Stage.TALOS,
            reason=change.why,
            holds=holds,
            needs=needs,
            deadline=1200.0,
            node=change.node,
            seconds=60.0,
        )

    def _removed(self, change: RemoveDeadMemberChange) -> Step:
        others = self._others(change.node)
        step = Step(
            id=f"talos/remove-member/{change.node}",
            action=RemoveEtcdMember(
                member=change.member,
                hostname=change.hostname,
                others=others,
                machine=change.machine,
            ),
            stage=Stage.TALOS,
            reason=change.why,
            gates=(EtcdQuorumAfterRemoval(controllers=others, member=change.member),),
            needs=self._after(()),
            lanes=(ETCD_LANE,),
            node=change.node,
        )
        self._last = step.id
        self._members = list(others)
        return step

    def _others(self, node: str) -> tuple[TalosMachine, ...]:
        return tuple(one for one in self._members if one.node != node)

    def _after(self, needs: tuple[str, ...]) -> tuple[str, ...]:
        """One member of etcd after the other."""
        return (*needs, self._last) if self._last and self._last not in needs else needs

    # -- machines that come ----------------------------------------------------------------

    def _replaced(self, join: JoinChange) -> Iterator[Step]:
        for change in self._changes:
            if (
                isinstance(change, LeaveChange | RemoveDeadMemberChange)
                and change.node == join.node
            ):
                yield from self._gone(change)
        yield from self._joined(join)

    def _joined(self, join: JoinChange) -> Iterator[Step]:
        node, machine = join.node, join.machine
        yield Step(
            id=await_step_id(node),
            action=AwaitMachine(machine=machine, vm=self._vm(node)),
            stage=Stage.TALOS,
            reason=join.why,
            needs=(*self._wish.needs.get(node, ()), *steps_before_vm_deletion(self._changes, node)),
            deadline=1500.0,
            node=node,
            seconds=60.0,
        )
        yield Step(
            id=configure_step_id(node),
            action=ConfigureMachine(
                machine=machine,
                minor=self._wish.minor,
                digest=join.digest,
                installs=join.installs,
                version=join.version,
            ),
            stage=Stage.TALOS,
            reason=join.why,
            gates=(MachineIdentity(machine=machine),),
            needs=self._configured_after(join),
            deadline=2400.0,
            node=node,
            seconds=120.0 if join.installs else 30.0,
        )
        if not self._begins and not self._waits:
            yield self._up(join)

    def _vm(self, name: str) -> MachineVm | None:
        for node in self._wish.desired.nodes:
            if str(node.name) == name and node.vm is not None:
                return MachineVm(cluster=str(node.vm.region), vmid=node.vm.vmid)
        return None

    def _configured_after(self, join: JoinChange) -> tuple[str, ...]:
        """Others carry our calls on to a new machine, so one controller has to be there."""
        needs = (await_step_id(join.node),)
        if join.is_controller and not self._begins:
            return self._after(needs)
        first = self._controllers[0].node if self._controllers else ""
        if first in self._joins and first != join.node and not self._answering():
            return (*needs, configure_step_id(first))
        return needs

    def _answering(self) -> bool:
        """Whether a controller answers that stays as it is."""
        machines = self._observed.machines
        return any(
            one.node in machines
            and machines[one.node].is_configured
            and one.node not in self._going
            for one in self._controllers
        )

    def _up(self, join: JoinChange) -> Step:
        """A machine that joined what was there."""
        gates: tuple[Gate, ...] = (MachineRunning(machine=join.machine),)
        if join.is_controller:
            self._members = [*self._others(join.node), join.machine]
            gates = (EtcdHealthy(controllers=tuple(self._members)), *gates)
            self._last = join_step_id(join.node)
        return machine_running_step(join.node, gates, (configure_step_id(join.node),))
