"""Steps of the Talos stage, from its changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stockman.model.names import MachineAddress
from stockman.planning.observed_talos import ObservedTalos
from stockman.planning.talos_bootstrap import bootstrapped, etcd_healthy, running
from stockman.planning.talos_changes import (
    BeginEtcd,
    ClientFileChange,
    EtcdComesUp,
    Join,
    Leave,
    Reconfigure,
    Rejoin,
    RemoveDead,
    TalosChange,
    etcd_waits_for,
)
from stockman.planning.talos_outside import rejoining
from stockman.planning.talos_reconfiguring import client_file, reconfigured
from stockman.planning.talos_step_names import (
    ETCD_LANE,
    REBOOT_LANE,
    await_id,
    configure_id,
    joined_id,
)
from stockman.planning.talos_wish import TalosWish, machine_of
from stockman.steps.base import Gate
from stockman.steps.etcd_gates import EtcdHealthy, EtcdSpares
from stockman.steps.etcd_leave import LeaveEtcd
from stockman.steps.etcd_remove import RemoveMember
from stockman.steps.step import Stage, Step
from stockman.steps.talos_absent import VmPlace
from stockman.steps.talos_await import AwaitMachine
from stockman.steps.talos_configure import ConfigureMachine
from stockman.steps.talos_gates import MachineIs, StageRunning
from stockman.steps.talos_machine import TalosMachine
from stockman.steps.talos_reset import ResetMachine


def before_vm(changes: Iterable[TalosChange], node: str) -> tuple[str, ...]:
    """Steps that are finished before the VM of a node may be deleted, or made anew."""
    found: list[str] = []
    for change in changes:
        if change.node != node:
            continue
        if isinstance(change, Leave):
            found.append(f"talos/reset/{node}")
        elif isinstance(change, RemoveDead):
            found.append(f"talos/remove-member/{node}")
    return tuple(found)


def steps(
    wish: TalosWish, observed: ObservedTalos, changes: Iterable[TalosChange]
) -> tuple[Step, ...]:
    """The steps that make changes true, with what each of them waits for."""
    return tuple(_Rollout(wish, observed, tuple(changes)).steps())


class _Rollout:
    def __init__(
        self, wish: TalosWish, observed: ObservedTalos, changes: tuple[TalosChange, ...]
    ) -> None:
        self._wish = wish
        self._observed = observed
        self._changes = changes
        self._joins = {one.node: one for one in changes if isinstance(one, Join)}
        self._going = {one.node for one in changes if isinstance(one, Leave | RemoveDead)}
        self._begins = any(isinstance(one, BeginEtcd) for one in changes)
        self._waits = bool(etcd_waits_for(wish, observed, changes))
        """Whether machines get their configuration, and etcd begins in a later run."""
        self._controllers = tuple(machine_of(node) for node in wish.controllers)
        self._members = self._staying()
        """Controllers that etcd has while one after the other joins or goes."""
        self._last = ""
        """The step that changed the members of etcd last."""

    def steps(self) -> Iterator[Step]:
        for change in self._changes:
            if isinstance(change, Rejoin):
                yield self._rejoined(change)
        for change in self._changes:
            if isinstance(change, Leave | RemoveDead) and change.node not in self._joins:
                yield from self._gone(change)
        for change in self._changes:
            if isinstance(change, Join):
                yield from self._replaced(change)
        yield from self._begun()
        quorum_of = () if self._begins else self._controllers
        for change in self._changes:
            if isinstance(change, Reconfigure):
                yield reconfigured(change, self._wish, quorum_of)
            elif isinstance(change, ClientFileChange):
                yield client_file(change)

    def _begun(self) -> Iterator[Step]:
        address, joins = self._wish.shared_address, self._joins.values()
        for change in self._changes:
            if isinstance(change, BeginEtcd):
                yield from bootstrapped(change, self._controllers, joins, address)
        if any(isinstance(one, EtcdComesUp) for one in self._changes):
            yield from etcd_healthy(self._controllers, address)

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

    def _rejoined(self, change: Rejoin) -> Step:
        """First of all: whoever counts the members of etcd afterwards counts on this one."""
        node, others = change.node, self._others(change.node)
        step = replace(
            rejoining(change.machine, change.boot_id, others, change.why),
            holds=self._wish.holds.get(node, ()),
            needs=self._after(self._wish.drained_by.get(node, ())),
            lanes=(REBOOT_LANE, ETCD_LANE),
        )
        self._last = step.id
        self._members = [*others, change.machine]
        return step

    # -- machines that go ------------------------------------------------------------------

    def _gone(self, change: Leave | RemoveDead) -> Iterator[Step]:
        if isinstance(change, RemoveDead):
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
                gates=(EtcdSpares(controllers=(*others, change.machine), member=change.member),),
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

    def _removed(self, change: RemoveDead) -> Step:
        others = self._others(change.node)
        step = Step(
            id=f"talos/remove-member/{change.node}",
            action=RemoveMember(
                member=change.member,
                hostname=change.hostname,
                others=others,
                machine=change.machine,
            ),
            stage=Stage.TALOS,
            reason=change.why,
            gates=(EtcdSpares(controllers=others, member=change.member),),
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

    def _replaced(self, join: Join) -> Iterator[Step]:
        for change in self._changes:
            if isinstance(change, Leave | RemoveDead) and change.node == join.node:
                yield from self._gone(change)
        yield from self._joined(join)

    def _joined(self, join: Join) -> Iterator[Step]:
        node, machine = join.node, join.machine
        yield Step(
            id=await_id(node),
            action=AwaitMachine(machine=machine, vm=self._vm(node)),
            stage=Stage.TALOS,
            reason=join.why,
            needs=(*self._wish.needs.get(node, ()), *before_vm(self._changes, node)),
            deadline=1500.0,
            node=node,
            seconds=60.0,
        )
        yield Step(
            id=configure_id(node),
            action=ConfigureMachine(
                machine=machine,
                minor=self._wish.minor,
                digest=join.digest,
                installs=join.installs,
                version=join.version,
            ),
            stage=Stage.TALOS,
            reason=join.why,
            gates=(MachineIs(machine=machine),),
            needs=self._configured_after(join),
            deadline=2400.0,
            node=node,
            seconds=120.0 if join.installs else 30.0,
        )
        if not self._begins and not self._waits:
            yield self._up(join)

    def _vm(self, name: str) -> VmPlace | None:
        for node in self._wish.desired.nodes:
            if str(node.name) == name and node.vm is not None:
                return VmPlace(cluster=str(node.vm.region), vmid=node.vm.vmid)
        return None

    def _configured_after(self, join: Join) -> tuple[str, ...]:
        """Others carry our calls on to a new machine, so one controller has to be there."""
        needs = (await_id(join.node),)
        if join.is_controller and not self._begins:
            return self._after(needs)
        first = self._controllers[0].node if self._controllers else ""
        if first in self._joins and first != join.node and not self._answering():
            return (*needs, configure_id(first))
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

    def _up(self, join: Join) -> Step:
        """A machine that joined what was there."""
        gates: tuple[Gate, ...] = (StageRunning(machine=join.machine),)
        if join.is_controller:
            self._members = [*self._others(join.node), join.machine]
            gates = (EtcdHealthy(controllers=tuple(self._members)), *gates)
            self._last = joined_id(join.node)
        return running(join.node, gates, (configure_id(join.node),))
