"""Nodes that leave a cluster: emptied first, forgotten by Kubernetes last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import problems as say
from stockman.planning.change import Change, ChangeKind
from stockman.planning.observed.kubernetes import ObservedKubernetes, ObservedNode
from stockman.planning.observed.systems import Observed
from stockman.planning.talos import steps
from stockman.planning.talos.changes import (
    JoinChange,
    LeaveChange,
    ReconfigureChange,
    RejoinChange,
    TalosChange,
)
from stockman.planning.talos.desired import talos_machine
from stockman.planning.talos.step_ids import ETCD_LANE, REBOOT_LANE, configure_step_id
from stockman.planning.vm.update import offline_move_step_id
from stockman.steps.base import Gate, Hold
from stockman.steps.etcd.gates import EtcdQuorum
from stockman.steps.kubernetes.nodes import Cordon, DeleteNode, DrainNode
from stockman.steps.step import Stage, Step
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.talos.wait import MachineVm

_DRAIN_MARGIN = 60.0


@record
class NodeDrain:
    """How a node leaves."""

    reason: str
    needs: tuple[str, ...] = ()
    stage: Stage = Stage.KUBERNETES
    seconds: float = 600.0
    """How long its pods may take."""


def drain_step(node: ObservedNode, how: NodeDrain) -> tuple[Step, ...]:
    """Empty a node that runs; one that does not answer cannot be emptied, so nothing is done."""
    if not node.is_ready:
        return ()
    return (
        Step(
            id=f"nodes/drain/{node.name}",
            action=DrainNode(node=node.name, uid=node.uid, seconds=how.seconds),
            stage=how.stage,
            reason=how.reason,
            holds=(cordon_hold(node),),
            needs=how.needs,
            deadline=how.seconds + _DRAIN_MARGIN,
            lanes=("drain",),
            node=node.name,
            seconds=60.0,
        ),
    )


def cordon_hold(node: ObservedNode) -> Cordon:
    """The hold that keeps new pods away from a node, for every step that needs it empty."""
    return Cordon(node=node.name, uid=node.uid)


def delete_node_step(node: ObservedNode, how: NodeDrain) -> Step:
    """Have Kubernetes forget a node whose machine is gone."""
    return Step(
        id=f"nodes/remove/{node.name}",
        action=DeleteNode(node=node.name, uid=node.uid),
        stage=how.stage,
        reason=how.reason,
        needs=how.needs,
        node=node.name,
        seconds=1.0,
    )


def find_unexpected_nodes(
    observed: ObservedKubernetes, wanted: frozenset[str]
) -> tuple[ObservedNode, ...]:
    """Nodes that Kubernetes knows and nobody wants, by name."""
    return tuple(one for one in observed.nodes or () if one.name not in wanted)


class NodePreparation:
    """What is done for the nodes of a cluster before something is done to them."""

    def __init__(self, desired: Desired, seen: Observed, problems: Problems) -> None:
        self.desired = desired
        self.seen = seen
        self.problems = problems

    def drains(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Step, ...]]:
        """Steps that empty nodes, by node."""
        found: dict[str, tuple[Step, ...]] = {}
        reasons = dict.fromkeys(restarted, "its VM is restarted")
        for one in machines:
            if isinstance(one, LeaveChange):
                reasons[one.node] = one.why
            elif isinstance(one, ReconfigureChange) and one.boot_id:
                reasons[one.node] = "it is booted again"
            elif isinstance(one, RejoinChange):
                reasons[one.node] = "it joins etcd anew"
        for name, why in reasons.items():
            node = self.seen.node(name)
            if node is not None:
                found[name] = drain_step(node, NodeDrain(reason=why, stage=Stage.TALOS))
            elif self._has_kubernetes():
                self._undrained(name)
        return found

    def _undrained(self, name: str) -> None:
        """A machine that runs pods, perhaps, and nobody can tell."""
        if not self.seen.api_answers:
            self.problems.add(say.cannot_drain(name))

    def _has_kubernetes(self) -> bool:
        talos = self.seen.talos
        return talos is not None and bool(talos.etcd.begun)

    def holds(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Hold, ...]]:
        """What is held while machines leave or are booted again, by node."""
        names = {
            one.node
            for one in machines
            if isinstance(one, LeaveChange | ReconfigureChange | RejoinChange)
        }
        found: dict[str, tuple[Hold, ...]] = {}
        for name in (*names, *restarted):
            if held := self.held(name):
                found[name] = held
        return found

    def held(self, name: str) -> tuple[Hold, ...]:
        """Nothing new is put on a node that leaves, until Kubernetes forgets it."""
        node = self.seen.node(name)
        return (cordon_hold(node),) if node is not None and node.is_ready else ()

    def down(self, vms: Mapping[str, Step], name: str) -> tuple[Step, ...]:
        """Steps that switch the VM of a node off and on."""
        ids = (offline_move_step_id(name), f"vms/restart/{name}")
        return tuple(vms[one] for one in ids if one in vms)

    def order(
        self,
        vms: dict[str, Step],
        machines: tuple[TalosChange, ...],
        drains: Mapping[str, tuple[Step, ...]],
        restarted: list[str],
    ) -> None:
        """VMs are deleted after their machines left, made anew after that, restarted when empty."""
        for name in {step.node for step in vms.values() if step.node}:
            before = steps.steps_before_vm_deletion(machines, name)
            for step_id in (f"vms/destroy/{name}", f"vms/create/{name}"):
                if before and step_id in vms:
                    step = vms[step_id]
                    held = self.held(name) if step_id.startswith("vms/destroy/") else ()
                    vms[step_id] = replace(step, needs=(*step.needs, *before), holds=held)
        for name in restarted:
            for step in self.down(vms, name):
                vms[step.id] = self._careful(step, name, drains.get(name, ()))

    def _careful(self, step: Step, name: str, drained: tuple[Step, ...]) -> Step:
        node = next(one for one in self.desired.nodes if str(one.name) == name)
        held = self.seen.node(name)
        quorum: tuple[Gate, ...] = ()
        if node.is_controller:
            vm = node.vm
            place = MachineVm(cluster=str(vm.region), vmid=vm.vmid) if vm is not None else None
            quorum = (EtcdQuorum(controllers=self._controllers(), node=name, vm=place),)
        lane = (ETCD_LANE,) if node.is_controller else ()
        return replace(
            step,
            gates=(*step.gates, *quorum),
            holds=(cordon_hold(held),) if held is not None and held.is_ready else (),
            needs=(*step.needs, *(one.id for one in drained)),
            lanes=(*step.lanes, REBOOT_LANE, *lane),
            deadline=max(step.deadline, 1800.0),
        )

    def _controllers(self) -> tuple[TalosMachine, ...]:
        return tuple(talos_machine(node) for node in self.desired.nodes if node.is_controller)


_LEAVING_CHANGES = "the configuration does not have it"


def plan_node_deletions(
    care: NodePreparation, vms: Mapping[str, Step], machines: tuple[TalosChange, ...]
) -> Iterator[Step]:
    """Node objects whose machines are gone: of those that leave, and of those made anew."""
    joins = {one.node for one in machines if isinstance(one, JoinChange)}
    gone = {step.node for step in vms.values() if step.id.startswith("vms/destroy/")}
    # Of a VM that was replaced before, the name belongs to the machine that came in its place.
    wanted = (str(node.name) for node in care.desired.nodes)
    gone -= {name for name in wanted if f"vms/create/{name}" not in vms}
    for name in sorted(gone | {one for one in joins if f"vms/create/{one}" in vms}):
        node = care.seen.node(name)
        if node is None:
            continue
        after = f"vms/destroy/{name}" if name in gone else f"vms/create/{name}"
        why = "its machine is made anew" if name in joins else _LEAVING_CHANGES
        step = delete_node_step(node, NodeDrain(reason=why, needs=(after,), stage=Stage.TALOS))
        yield replace(step, holds=care.held(name))


def wait_for_node_deletion(
    talos: tuple[Step, ...], forgotten: tuple[Step, ...]
) -> tuple[Step, ...]:
    """A machine joins after the Node of its predecessor is gone."""
    removed = {step.node: step.id for step in forgotten}
    return tuple(
        replace(step, needs=(*step.needs, removed[step.node]))
        if step.id == configure_step_id(step.node) and step.node in removed
        else step
        for step in talos
    )


def node_deletion_changes(forgotten: tuple[Step, ...]) -> Iterator[Change]:
    """What a reader of the plan is told of it."""
    for step in forgotten:
        yield Change(
            what=f"Node {step.node} of Kubernetes",
            why=step.reason,
            mark=ChangeKind.REMOVE,
            stage=Stage.TALOS,
            node=step.node,
        )
