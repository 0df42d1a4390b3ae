"""Machines that are taken down and come back: one after the other, each back before the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stockman.model.desired import Node
from stockman.planning.talos.desired import talos_machine
from stockman.planning.talos.rejoin import rejoin_step_id
from stockman.planning.vm.update import offline_move_step_id
from stockman.steps.base import Checkpoint, Gate
from stockman.steps.etcd.gates import EtcdHealthy
from stockman.steps.kubernetes.readiness import ComponentReady, ObjectCondition
from stockman.steps.step import Stage, Step
from stockman.steps.talos.gates import MachineRunning
from stockman.steps.talos.machine import TalosMachine

_READY = "object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"


def shutdown_step_ids(node: str) -> tuple[str, ...]:
    """Steps that take a machine down, in the order in which they are done."""
    reboot = f"talos/reboot-into/{node}"
    return (rejoin_step_id(node), reboot, offline_move_step_id(node), f"vms/restart/{node}")


def node_ready_gate(node: str) -> ComponentReady:
    """The gate that Kubernetes says that a node is ready."""
    ready = ObjectCondition(
        api_version="v1", kind="Node", name=node, expr=_READY, says=f"{node} is ready"
    )
    return ComponentReady(component=f"node {node}", conditions=(ready,))


def serialize_restarts(
    steps: Mapping[str, Step],
    nodes: Iterable[Node],
    known: frozenset[str],
    chosen: frozenset[str] = frozenset(),
) -> dict[str, Step]:
    """All steps, with those that take machines down one node after the other.

    Controllers that join etcd anew come first, as nobody else is back without them, then workers;
    `known` are nodes that Kubernetes has, which have to be ready again. Nodes that are `chosen`
    come before all others, so that they can be done without them.
    """
    every = tuple(nodes)
    controllers = tuple(talos_machine(node) for node in every if node.is_controller)
    found = dict(steps)
    before = ""

    def turn(node: Node) -> tuple[bool, bool, bool]:
        name = str(node.name)
        return name not in chosen, rejoin_step_id(name) not in found, node.is_controller

    for node in sorted(every, key=turn):
        name = str(node.name)
        down = [step_id for step_id in shutdown_step_ids(name) if step_id in found]
        if not down:
            continue
        drain = f"nodes/drain/{name}"
        chain = [*([drain] if drain in found else []), *down]
        for step_id in chain:
            step = found[step_id]
            if before and before not in step.needs:
                found[step_id] = replace(step, needs=(*step.needs, before))
            before = step_id
        back = _wait_until_back(node, controllers, found[down[-1]], ready=name in known)
        found[back.id] = back
        before = back.id
    return found


def _wait_until_back(
    node: Node, controllers: tuple[TalosMachine, ...], last: Step, *, ready: bool
) -> Step:
    name = str(node.name)
    gates: list[Gate] = [MachineRunning(machine=talos_machine(node))]
    if node.is_controller:
        gates.append(EtcdHealthy(controllers=controllers))
    if ready:
        gates.append(node_ready_gate(name))
    return Step(
        id=f"nodes/back/{name}",
        action=Checkpoint(text=f"wait until {name} is back"),
        stage=Stage.TALOS,
        reason=f"it was taken down: {last.reason}",
        gates=tuple(gates),
        holds=last.holds,
        needs=(last.id,),
        deadline=1800.0,
        node=name,
        seconds=60.0,
    )
