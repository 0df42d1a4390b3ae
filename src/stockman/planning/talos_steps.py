"""Steps of the Talos stage, from its changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stockman.model.names import MachineAddress
from stockman.planning.observed_talos import ObservedTalos
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
from stockman.planning.talos_wish import TalosWish, machine_of
from stockman.steps.base import Gate
from stockman.steps.checkpoint import Checkpoint
from stockman.steps.etcd_bootstrap import Bootstrap, EtcdNotBegun
from stockman.steps.etcd_gates import EtcdHealthy, EtcdQuorum, EtcdSpares
from stockman.steps.etcd_leave import LeaveEtcd
from stockman.steps.etcd_remove import RemoveMember
from stockman.steps.step import Stage, Step
from stockman.steps.talos_absent import VmPlace
from stockman.steps.talos_await import AwaitMachine
from stockman.steps.talos_change import ChangeConfiguration
from stockman.steps.talos_configure import ConfigureMachine
from stockman.steps.talos_gates import MachineIs, SharedAddressHeld, StageRunning, TimeInSync
from stockman.steps.talos_machine import TalosMachine
from stockman.steps.talos_reboot_into import RebootIntoConfiguration
from stockman.steps.talos_reset import ResetMachine

ETCD_LANE = "etcd"
"""Whatever adds or takes out a member of etcd, or takes one down: one at a time."""
REBOOT_LANE = "talos/reboot"
_BOOTSTRAP, _HEALTHY = "talos/bootstrap", "talos/etcd-healthy"
_ADDRESS = "talos/shared-address"
_REASONS = {
    "joined": "it is new, and what comes next counts on it",
    "etcd-healthy": "the Kubernetes API keeps everything in etcd",
    "shared-address": "clients and machines reach the Kubernetes API there",
}
"""Why a run waits, by the second word of the step."""


def await_id(node: str) -> str:
    return f"talos/await/{node}"


def configure_id(node: str) -> str:
    """The step after which a new node has its configuration."""
    return f"talos/configure/{node}"


def joined_id(node: str) -> str:
    """The step after which a new node runs, as a member of etcd where it is a controller."""
    return f"talos/joined/{node}"


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
        yield from self._bootstrapped()
        if any(isinstance(one, EtcdComesUp) for one in self._changes):
            yield from self._healthy(())
        for change in self._changes:
            if isinstance(change, Reconfigure):
                yield self._reconfigured(change)
            elif isinstance(change, ClientFileChange):
                yield self._file(change)

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
        step_id = joined_id(join.node)
        if join.is_controller:
            self._members = [*self._others(join.node), join.machine]
            gates = (EtcdHealthy(controllers=tuple(self._members)), *gates)
            self._last = step_id
        return self._checkpoint(
            step_id, f"wait until {join.node} runs", gates, (configure_id(join.node),), join.node
        )

    def _checkpoint(
        self, step_id: str, text: str, gates: tuple[Gate, ...], needs: tuple[str, ...], node: str
    ) -> Step:
        return Step(
            id=step_id,
            action=Checkpoint(text=text),
            stage=Stage.TALOS,
            reason=_REASONS[step_id.split("/")[1]],
            gates=gates,
            needs=needs,
            deadline=1800.0,
            node=node,
            seconds=60.0,
        )

    # -- the beginning ---------------------------------------------------------------------

    def _bootstrapped(self) -> Iterator[Step]:
        for change in self._changes:
            if not isinstance(change, BeginEtcd):
                continue
            needs = tuple(
                configure_id(one.node) for one in self._controllers if one.node in self._joins
            )
            others = tuple(one for one in self._controllers if one.node != change.node)
            yield Step(
                id=_BOOTSTRAP,
                action=Bootstrap(machine=change.machine, others=others),
                stage=Stage.TALOS,
                reason=change.why,
                gates=(
                    EtcdNotBegun(controllers=self._controllers),
                    TimeInSync(machine=change.machine),
                ),
                needs=needs,
                deadline=1800.0,
                lanes=(ETCD_LANE,),
                seconds=60.0,
            )
            yield from self._healthy((_BOOTSTRAP,))
            for join in self._joins.values():
                yield self._checkpoint(
                    joined_id(join.node),
                    f"wait until {join.node} runs",
                    (StageRunning(machine=join.machine),),
                    (_HEALTHY, configure_id(join.node)),
                    join.node,
                )

    def _healthy(self, needs: tuple[str, ...]) -> Iterator[Step]:
        """etcd has all its controllers, and the API its address."""
        yield self._checkpoint(
            _HEALTHY,
            "wait until all controllers are members of etcd",
            (EtcdHealthy(controllers=self._controllers),),
            needs,
            "",
        )
        if self._wish.shared_address:
            held = SharedAddressHeld(
                controllers=self._controllers, address=self._wish.shared_address
            )
            yield self._checkpoint(
                _ADDRESS,
                "wait until a controller has the address of the Kubernetes API",
                (held,),
                (_HEALTHY,),
                "",
            )

    # -- other configurations --------------------------------------------------------------

    def _reconfigured(self, change: Reconfigure) -> Step:
        if not change.boot_id:
            return Step(
                id=f"talos/change/{change.node}",
                action=ChangeConfiguration(
                    machine=change.machine,
                    minor=self._wish.minor,
                    before=change.before,
                    digest=change.digest,
                ),
                stage=Stage.TALOS,
                reason=change.why,
                gates=(MachineIs(machine=change.machine),),
                lanes=(ETCD_LANE,) if change.is_controller else (),
                node=change.node,
                seconds=3.0,
            )
        quorum: tuple[Gate, ...] = ()
        if change.is_controller and not self._begins:
            quorum = (EtcdQuorum(controllers=self._controllers, node=change.node),)
        return Step(
            id=f"talos/reboot-into/{change.node}",
            action=RebootIntoConfiguration(
                machine=change.machine,
                minor=self._wish.minor,
                before=change.before,
                digest=change.digest,
                boot_id=change.boot_id,
            ),
            stage=Stage.TALOS,
            reason=change.why,
            gates=(MachineIs(machine=change.machine), *quorum),
            holds=self._wish.holds.get(change.node, ()),
            needs=self._wish.drained_by.get(change.node, ()),
            deadline=1800.0,
            lanes=(REBOOT_LANE, *((ETCD_LANE,) if change.is_controller else ())),
            node=change.node,
            seconds=120.0,
        )

    def _file(self, change: ClientFileChange) -> Step:
        return Step(
            id=f"talos/client-file/{change.action.file}",
            action=change.action,
            stage=Stage.TALOS,
            reason=change.why,
            seconds=0.5,
        )
