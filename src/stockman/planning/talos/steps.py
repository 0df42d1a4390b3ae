"""Steps of the Talos stage: configurations, joins, removals, rejoins and client files."""

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
from stockman.planning.vm.seeds import NewMachine, seed_step_id
from stockman.steps.base import Gate
from stockman.steps.etcd.gates import EtcdHealthy, EtcdQuorum, EtcdQuorumAfterRemoval
from stockman.steps.etcd.members import LeaveEtcd, RemoveEtcdMember
from stockman.steps.step import Stage, Step
from stockman.steps.talos.configuration import (
    AwaitConfiguration,
    ChangeConfiguration,
    ConfigureMachine,
    RebootIntoConfiguration,
)
from stockman.steps.talos.gates import MachineIdentity, MachineRunning
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.talos.reset import ResetMachine
from stockman.steps.talos.wait import AwaitMachine, MachineVm


def reconfigure_step(
    change: ReconfigureChange, desired: DesiredTalos, quorum_of: tuple[TalosMachine, ...]
) -> Step:
    """Return the step that changes the configuration of a machine, with a reboot if it needs one.

    A controller only reboots while the quorum of `quorum_of` is safe. Empty: there is no etcd.
    """
    if not change.boot_id:
        return Step(
            id=f"talos/change/{change.node}",
            action=ChangeConfiguration(
                machine=change.machine,
                minor=desired.minor,
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
            minor=desired.minor,
            before=change.before,
            digest=change.digest,
            boot_id=change.boot_id,
        ),
        stage=Stage.TALOS,
        reason=change.why,
        gates=(MachineIdentity(machine=change.machine), *quorum),
        holds=desired.holds.get(change.node, ()),
        needs=desired.drained_by.get(change.node, ()),
        deadline=1800.0,
        lanes=(REBOOT_LANE, *((ETCD_LANE,) if change.is_controller else ())),
        node=change.node,
        seconds=120.0,
    )


def client_file_step(change: ClientFileChange) -> Step:
    """Return the step that writes a client file."""
    return Step(
        id=f"talos/client-file/{change.action.file}",
        action=change.action,
        stage=Stage.TALOS,
        reason=change.why,
        seconds=0.5,
    )


def steps_before_vm_deletion(changes: Iterable[TalosChange], node: str) -> tuple[str, ...]:
    """Return steps that precede the deletion of the VM of a node."""
    step_ids: list[str] = []
    for change in changes:
        if change.node != node:
            continue
        if isinstance(change, LeaveChange):
            step_ids.append(f"talos/reset/{node}")
        elif isinstance(change, RemoveDeadMemberChange):
            step_ids.append(f"talos/remove-member/{node}")
    return tuple(step_ids)


def talos_steps(
    desired: DesiredTalos, observed: ObservedTalos, changes: Iterable[TalosChange]
) -> tuple[Step, ...]:
    """Return the steps that make changes, with their dependencies."""
    return tuple(_Rollout(desired, observed, tuple(changes)).steps())


class _Rollout:
    def __init__(
        self, desired: DesiredTalos, observed: ObservedTalos, changes: tuple[TalosChange, ...]
    ) -> None:
        self._desired = desired
        self._observed = observed
        self._changes = changes
        self._joins = {change.node: change for change in changes if isinstance(change, JoinChange)}
        self._going = {
            change.node
            for change in changes
            if isinstance(change, LeaveChange | RemoveDeadMemberChange)
        }
        self._bootstraps = any(isinstance(change, BootstrapEtcdChange) for change in changes)
        self._waits = bool(missing_controllers(desired, observed, changes))
        """Whether machines are configured now, but etcd is bootstrapped by a later run."""
        self._controllers = tuple(talos_machine(node) for node in desired.controllers)
        self._members = self._current_members()
        """Controllers that are members of etcd, while others join or leave."""
        self._last = ""
        """The last step that changed the members of etcd."""

    def steps(self) -> Iterator[Step]:
        for change in self._changes:
            if isinstance(change, RejoinChange):
                yield self._rejoin(change)
        for change in self._changes:
            if (
                isinstance(change, LeaveChange | RemoveDeadMemberChange)
                and change.node not in self._joins
            ):
                yield from self._leave(change)
        for change in self._changes:
            if isinstance(change, JoinChange):
                yield from self._replace_machine(change)
        yield from self._bootstrap()
        quorum_of = () if self._bootstraps else self._controllers
        for change in self._changes:
            if isinstance(change, ReconfigureChange):
                yield reconfigure_step(change, self._desired, quorum_of)
            elif isinstance(change, ClientFileChange):
                yield client_file_step(change)

    def _bootstrap(self) -> Iterator[Step]:
        address, joins = self._desired.shared_address, self._joins.values()
        for change in self._changes:
            if isinstance(change, BootstrapEtcdChange):
                yield from bootstrap_steps(change, self._controllers, joins, address)
        if any(isinstance(change, EtcdStartingChange) for change in self._changes):
            yield from etcd_healthy_steps(self._controllers, address)

    def _current_members(self) -> list[TalosMachine]:
        view = self._observed.etcd
        members = {member.hostname for member in view.members}
        known = {**self._leaving(), **{machine.node: machine for machine in self._controllers}}
        return [machine for name, machine in known.items() if name in members]

    def _leaving(self) -> dict[str, TalosMachine]:
        machines: dict[str, TalosMachine] = {}
        for name, address in self._desired.leaving.items():
            machines[name] = TalosMachine(node=name, address=MachineAddress(address))
        return machines

    # -- machines that were taken out ------------------------------------------------------

    def _rejoin(self, change: RejoinChange) -> Step:
        """Rejoin first: later quorum checks rely on this member."""
        node, remaining = change.node, self._others(change.node)
        step = replace(
            rejoin_step(change.machine, change.boot_id, remaining, change.why),
            holds=self._desired.holds.get(node, ()),
            needs=self._after(self._desired.drained_by.get(node, ())),
            lanes=(REBOOT_LANE, ETCD_LANE),
        )
        self._last = step.id
        self._members = [*remaining, change.machine]
        return step

    # -- machines that go ------------------------------------------------------------------

    def _leave(self, change: LeaveChange | RemoveDeadMemberChange) -> Iterator[Step]:
        if isinstance(change, RemoveDeadMemberChange):
            yield self._remove_member(change)
            return
        needs = self._desired.drained_by.get(change.node, ())
        holds = self._desired.holds.get(change.node, ())
        if change.member:
            remaining = self._others(change.node)
            leave = f"talos/leave/{change.node}"
            yield Step(
                id=leave,
                action=LeaveEtcd(machine=change.machine, member=change.member, others=remaining),
                stage=Stage.TALOS,
                reason=change.why,
                gates=(
                    EtcdQuorumAfterRemoval(
                        controllers=(*remaining, change.machine), member=change.member
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
            self._members = list(remaining)
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

    def _remove_member(self, change: RemoveDeadMemberChange) -> Step:
        remaining = self._others(change.node)
        step = Step(
            id=f"talos/remove-member/{change.node}",
            action=RemoveEtcdMember(
                member=change.member,
                hostname=change.hostname,
                others=remaining,
                machine=change.machine,
            ),
            stage=Stage.TALOS,
            reason=change.why,
            gates=(EtcdQuorumAfterRemoval(controllers=remaining, member=change.member),),
            needs=self._after(()),
            lanes=(ETCD_LANE,),
            node=change.node,
        )
        self._last = step.id
        self._members = list(remaining)
        return step

    def _others(self, node: str) -> tuple[TalosMachine, ...]:
        return tuple(machine for machine in self._members if machine.node != node)

    def _after(self, needs: tuple[str, ...]) -> tuple[str, ...]:
        """Serialize changes of etcd members."""
        return (*needs, self._last) if self._last and self._last not in needs else needs

    # -- machines that come ----------------------------------------------------------------

    def _replace_machine(self, join: JoinChange) -> Iterator[Step]:
        for change in self._changes:
            if (
                isinstance(change, LeaveChange | RemoveDeadMemberChange)
                and change.node == join.node
            ):
                yield from self._leave(change)
        yield from self._join(join)

    def _join(self, join: JoinChange) -> Iterator[Step]:
        if join.is_configured:
            yield self._await_configuration(join, ())
        elif join.new is not None:
            yield from self._deliver(join, join.new)
        else:
            yield from self._configure(join)
        if not self._bootstraps and not self._waits:
            yield self._wait_for_join(join)

    def _deliver(self, join: JoinChange, new: NewMachine) -> Iterator[Step]:
        """Deliver a configuration through Proxmox VE; the machine joins when its VM starts."""
        node = join.node
        seed = Step(
            id=seed_step_id(node),
            action=new.delivery(join.machine, self._desired.minor, join.digest),
            stage=Stage.TALOS,
            reason=join.why,
            needs=self._before_joining(
                join, (*new.needs, *steps_before_vm_deletion(self._changes, node))
            ),
            lanes=(f"host/{new.vm.cluster}/{new.host}",),
            node=node,
            seconds=5.0,
        )
        yield seed
        start = new.start.id
        if not new.is_starting:
            start = f"talos/start/{node}"
            yield replace(new.start, id=start, stage=Stage.TALOS, needs=(seed.id,))
        yield self._await_configuration(join, (start,))

    def _await_configuration(self, join: JoinChange, needs: tuple[str, ...]) -> Step:
        return Step(
            id=configure_step_id(join.node),
            action=AwaitConfiguration(
                machine=join.machine,
                minor=self._desired.minor,
                digest=join.digest,
                version=join.version,
                vm=self._vm(join.node),
            ),
            stage=Stage.TALOS,
            reason=join.why,
            needs=self._after_first_controller(join, needs),
            deadline=2400.0,
            node=join.node,
            seconds=90.0,
        )

    def _configure(self, join: JoinChange) -> Iterator[Step]:
        """Send a configuration to a machine in maintenance mode."""
        node, machine = join.node, join.machine
        yield Step(
            id=await_step_id(node),
            action=AwaitMachine(machine=machine, vm=self._vm(node)),
            stage=Stage.TALOS,
            reason=join.why,
            needs=(
                *self._desired.needs.get(node, ()),
                *steps_before_vm_deletion(self._changes, node),
            ),
            deadline=1500.0,
            node=node,
            seconds=60.0,
        )
        yield Step(
            id=configure_step_id(node),
            action=ConfigureMachine(
                machine=machine,
                minor=self._desired.minor,
                digest=join.digest,
                installs=join.installs,
                version=join.version,
            ),
            stage=Stage.TALOS,
            reason=join.why,
            gates=(MachineIdentity(machine=machine),),
            needs=self._after_first_controller(
                join, self._before_joining(join, (await_step_id(node),))
            ),
            deadline=2400.0,
            node=node,
            seconds=120.0 if join.installs else 30.0,
        )

    def _vm(self, name: str) -> MachineVm | None:
        for node in self._desired.desired.nodes:
            if str(node.name) == name and node.vm is not None:
                return MachineVm(cluster=str(node.vm.region), vmid=node.vm.vmid)
        return None

    def _before_joining(self, join: JoinChange, needs: tuple[str, ...]) -> tuple[str, ...]:
        """Controllers join an existing etcd one after the other."""
        return self._after(needs) if join.is_controller and not self._bootstraps else needs

    def _after_first_controller(self, join: JoinChange, needs: tuple[str, ...]) -> tuple[str, ...]:
        """The first controller is configured first, because it forwards calls to new machines."""
        if join.is_controller and not self._bootstraps:
            return needs
        first = self._controllers[0].node if self._controllers else ""
        if first in self._joins and first != join.node and not self._has_controller():
            return (*needs, configure_step_id(first))
        return needs

    def _has_controller(self) -> bool:
        """Whether a controller answers that stays."""
        machines = self._observed.machines
        return any(
            machine.node in machines
            and machines[machine.node].is_configured
            and machine.node not in self._going
            for machine in self._controllers
        )

    def _wait_for_join(self, join: JoinChange) -> Step:
        """Wait for a machine that joins an existing cluster."""
        gates: tuple[Gate, ...] = (MachineRunning(machine=join.machine),)
        if join.is_controller:
            self._members = [*self._others(join.node), join.machine]
            gates = (EtcdHealthy(controllers=tuple(self._members)), *gates)
            self._last = join_step_id(join.node)
        return machine_running_step(join.node, gates, (configure_step_id(join.node),))
