"""Serializes restarts: one machine after the other, each back before the next."""

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
    """Return the ids of the steps that shut a machine down, in execution order."""
    reboot = f"talos/reboot-into/{node}"
    return (rejoin_step_id(node), reboot, offline_move_step_id(node), f"vms/restart/{node}")


def node_ready_gate(node: str) -> ComponentReady:
    """Return the gate that a node is ready in Kubernetes."""
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
    """Return all steps, with those that shut machines down serialized by node.

    Controllers that rejoin etcd come first, as nobody else is back without them, then workers.
    `known` are nodes of Kubernetes, which have to be ready again. `chosen` nodes come before all
    others, so that they do not depend on them.
    """
    every = tuple(nodes)
    controllers = tuple(talos_machine(node) for node in every if node.is_controller)
    serialized = dict(steps)
    previous = ""

    def order(node: Node) -> tuple[bool, bool, bool]:
        name = str(node.name)
        return name not in chosen, rejoin_step_id(name) not in serialized, node.is_controller

    for node in sorted(every, key=order):
        name = str(node.name)
        down = [step_id for step_id in shutdown_step_ids(name) if step_id in serialized]
        if not down:
            continue
        drain = f"nodes/drain/{name}"
        chain = [*([drain] if drain in serialized else []), *down]
        for step_id in chain:
            step = serialized[step_id]
            if previous and previous not in step.needs:
                serialized[step_id] = replace(step, needs=(*step.needs, previous))
            previous = step_id
        back = _wait_until_back(node, controllers, serialized[down[-1]], ready=name in known)
        serialized[back.id] = back
        previous = back.id
    return serialized


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
        action=Checkpoint(text=f"wait until {name} is running again"),
        stage=Stage.TALOS,
        reason=f"it was shut down: {last.reason}",
        gates=tuple(gates),
        holds=last.holds,
        needs=(last.id,),
        deadline=1800.0,
        node=name,
        seconds=60.0,
    )
