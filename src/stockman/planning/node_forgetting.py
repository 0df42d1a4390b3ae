"""Node objects of machines that are gone: Kubernetes forgets them, and who waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from stockman.planning.change import Change, Mark
from stockman.planning.kube_nodes import Leaving, removal
from stockman.planning.node_care import NodeCare
from stockman.planning.talos_changes import Join, TalosChange
from stockman.planning.talos_step_names import configure_id
from stockman.steps.step import Stage, Step

_LEAVES = "the configuration does not have it"


def forgotten(
    care: NodeCare, vms: Mapping[str, Step], machines: tuple[TalosChange, ...]
) -> Iterator[Step]:
    """Node objects whose machines are gone: of those that leave, and of those made anew."""
    joins = {one.node for one in machines if isinstance(one, Join)}
    gone = {step.node for step in vms.values() if step.id.startswith("vms/destroy/")}
    # Of a VM that was replaced before, the name belongs to the machine that came in its place.
    wanted = (str(node.name) for node in care.desired.nodes)
    gone -= {name for name in wanted if f"vms/create/{name}" not in vms}
    for name in sorted(gone | {one for one in joins if f"vms/create/{one}" in vms}):
        node = care.seen.node(name)
        if node is None:
            continue
        after = f"vms/destroy/{name}" if name in gone else f"vms/create/{name}"
        why = "its machine is made anew" if name in joins else _LEAVES
        step = removal(node, Leaving(reason=why, needs=(after,), stage=Stage.TALOS))
        yield replace(step, holds=care.held(name))


def after_forgetting(talos: tuple[Step, ...], forgotten: tuple[Step, ...]) -> tuple[Step, ...]:
    """A machine joins after the Node of its predecessor is gone."""
    removed = {step.node: step.id for step in forgotten}
    return tuple(
        replace(step, needs=(*step.needs, removed[step.node]))
        if step.id == configure_id(step.node) and step.node in removed
        else step
        for step in talos
    )


def forgetting(forgotten: tuple[Step, ...]) -> Iterator[Change]:
    """What a reader of the plan is told of it."""
    for step in forgotten:
        yield Change(
            what=f"Node {step.node} of Kubernetes",
            why=step.reason,
            mark=Mark.REMOVE,
            stage=Stage.TALOS,
            node=step.node,
        )
