"""Nodes that leave a cluster: drained first, deleted from Kubernetes last."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from stockman.model.desired import Desired
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import problems as say
from stockman.planning.change import Change, ChangeKind
from stockman.planning.observed.kubernetes import ObservedNode
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
from stockman.planning.vm.seeds import seed_step_id
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
    """How a node is drained and deleted."""

    reason: str
    needs: tuple[str, ...] = ()
    stage: Stage = Stage.KUBERNETES
    seconds: float = 600.0
    """How long its pods may take to leave."""


def drain_step(node: ObservedNode, how: NodeDrain) -> tuple[Step, ...]:
    """Return the step that drains a ready node; a node that does not answer cannot be drained."""
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
    """Return the hold that keeps new pods away from a node."""
    return Cordon(node=node.name, uid=node.uid)


def delete_node_step(node: ObservedNode, how: NodeDrain) -> Step:
    """Return the step that deletes the Node object of a machine that no longer exists."""
    return Step(
        id=f"nodes/remove/{node.name}",
        action=DeleteNode(node=node.name, uid=node.uid),
        stage=how.stage,
        reason=how.reason,
        needs=how.needs,
        node=node.name,
        seconds=1.0,
    )


class NodePreparation:
    """Drains, cordons and gates of nodes whose machines change."""

    def __init__(self, desired: Desired, seen: Observed, problems: Problems) -> None:
        self.desired = desired
        self.seen = seen
        self.problems = problems

    def drains(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Step, ...]]:
        """Return steps that drain nodes, by node."""
        steps: dict[str, tuple[Step, ...]] = {}
        reasons = dict.fromkeys(restarted, "its VM is restarted")
        for change in machines:
            if isinstance(change, LeaveChange):
                reasons[change.node] = change.why
            elif isinstance(change, ReconfigureChange) and change.boot_id:
                reasons[change.node] = "it is rebooted"
            elif isinstance(change, RejoinChange):
                reasons[change.node] = "it rejoins etcd"
        for name, why in reasons.items():
            node = self.seen.node(name)
            if node is not None:
                steps[name] = drain_step(node, NodeDrain(reason=why, stage=Stage.TALOS))
            elif self._has_kubernetes():
                self._report_unknown_pods(name)
        return steps

    def _report_unknown_pods(self, name: str) -> None:
        """Report that a machine may run pods, but the API does not answer."""
        if not self.seen.api_answers:
            self.problems.add(say.cannot_drain(name))

    def _has_kubernetes(self) -> bool:
        talos = self.seen.talos
        return talos is not None and bool(talos.etcd.begun)

    def holds(
        self, machines: tuple[TalosChange, ...], restarted: list[str]
    ) -> dict[str, tuple[Hold, ...]]:
        """Return the holds while machines leave or reboot, by node."""
        names = {
            change.node
            for change in machines
            if isinstance(change, LeaveChange | ReconfigureChange | RejoinChange)
        }
        holds = {name: self.holds_of(name) for name in (*names, *restarted)}
        return {name: node_holds for name, node_holds in holds.items() if node_holds}

    def holds_of(self, name: str) -> tuple[Hold, ...]:
        """Return the cordon of a ready node; it is held until the Node object is deleted."""
        node = self.seen.node(name)
        return (cordon_hold(node),) if node is not None and node.is_ready else ()

    def down(self, vms: Mapping[str, Step], name: str) -> tuple[Step, ...]:
        """Return the steps that stop and start the VM of a node."""
        ids = (offline_move_step_id(name), f"vms/restart/{name}")
        return tuple(vms[step_id] for step_id in ids if step_id in vms)

    def order(
        self,
        vms: dict[str, Step],
        machines: tuple[TalosChange, ...],
        drains: Mapping[str, tuple[Step, ...]],
        restarted: list[str],
    ) -> None:
        """Order VM steps: deletion and creation after machines left, restarts after drains."""
        for name in {step.node for step in vms.values() if step.node}:
            before = steps.steps_before_vm_deletion(machines, name)
            for step_id in (f"vms/destroy/{name}", f"vms/create/{name}"):
                if before and step_id in vms:
                    step = vms[step_id]
                    holds = self.holds_of(name) if step_id.startswith("vms/destroy/") else ()
                    vms[step_id] = replace(step, needs=(*step.needs, *before), holds=holds)
        for name in restarted:
            for step in self.down(vms, name):
                vms[step.id] = self._restart_step(step, name, drains.get(name, ()))

    def _restart_step(self, step: Step, name: str, drains: tuple[Step, ...]) -> Step:
        """Return a step that restarts a VM, behind the drain and the gates of its node."""
        node = next(node for node in self.desired.nodes if str(node.name) == name)
        quorum: tuple[Gate, ...] = ()
        if node.is_controller:
            vm = node.vm
            machine = MachineVm(cluster=str(vm.region), vmid=vm.vmid) if vm is not None else None
            quorum = (EtcdQuorum(controllers=self._controllers(), node=name, vm=machine),)
        lane = (ETCD_LANE,) if node.is_controller else ()
        return replace(
            step,
            gates=(*step.gates, *quorum),
            holds=self.holds_of(name),
            needs=(*step.needs, *(drain.id for drain in drains)),
            lanes=(*step.lanes, REBOOT_LANE, *lane),
            deadline=max(step.deadline, 1800.0),
        )

    def _controllers(self) -> tuple[TalosMachine, ...]:
        return tuple(talos_machine(node) for node in self.desired.nodes if node.is_controller)


_NOT_CONFIGURED = "it is not in the configuration"


def plan_node_deletions(
    preparation: NodePreparation, vms: Mapping[str, Step], machines: tuple[TalosChange, ...]
) -> Iterator[Step]:
    """Yield the deletion of Node objects whose machines leave or are recreated."""
    joins = {change.node for change in machines if isinstance(change, JoinChange)}
    gone = {step.node for step in vms.values() if step.id.startswith("vms/destroy/")}
    # The name of a VM that was replaced earlier belongs to the machine that replaced it.
    desired = (str(node.name) for node in preparation.desired.nodes)
    gone -= {name for name in desired if f"vms/create/{name}" not in vms}
    for name in sorted(gone | {name for name in joins if f"vms/create/{name}" in vms}):
        node = preparation.seen.node(name)
        if node is None:
            continue
        after = f"vms/destroy/{name}" if name in gone else f"vms/create/{name}"
        why = "its machine is recreated" if name in joins else _NOT_CONFIGURED
        step = delete_node_step(node, NodeDrain(reason=why, needs=(after,), stage=Stage.TALOS))
        yield replace(step, holds=preparation.holds_of(name))


def wait_for_node_deletion(
    talos: tuple[Step, ...], deletions: tuple[Step, ...]
) -> tuple[Step, ...]:
    """Return steps in which a machine joins after the Node of its predecessor is deleted."""
    ids = {step.node: step.id for step in deletions}
    seeded = {step.node for step in talos if step.id == seed_step_id(step.node)}
    return tuple(
        replace(step, needs=(*step.needs, ids[step.node]))
        if step.node in ids and step.id == _joining_step_id(step.node, seeded)
        else step
        for step in talos
    )


def _joining_step_id(node: str, seeded: Collection[str]) -> str:
    """Return the id of the step that lets a machine join."""
    return seed_step_id(node) if node in seeded else configure_step_id(node)


def node_deletion_changes(deletions: tuple[Step, ...]) -> Iterator[Change]:
    """Yield the changes that a plan shows for deleted Node objects."""
    for step in deletions:
        yield Change(
            what=f"Node {step.node} of Kubernetes",
            why=step.reason,
            mark=ChangeKind.REMOVE,
            stage=Stage.TALOS,
            node=step.node,
        )
