"""Nodes that leave a cluster: emptied first, forgotten by Kubernetes last."""

from __future__ import annotations

from stockman.model.record import record
from stockman.planning.observed_kubernetes import ObservedKubernetes, SeenNode
from stockman.steps.kube_cordon import Cordon
from stockman.steps.kube_drain import DrainNode
from stockman.steps.kube_node import RemoveNode
from stockman.steps.step import Stage, Step

_SPARE = 60.0


@record
class Leaving:
    """How a node leaves."""

    reason: str
    needs: tuple[str, ...] = ()
    stage: Stage = Stage.KUBERNETES
    seconds: float = 600.0
    """How long its pods may take."""


def drain(node: SeenNode, how: Leaving) -> tuple[Step, ...]:
    """Empty a node that runs; one that does not answer cannot be emptied, so nothing is done."""
    if not node.is_ready:
        return ()
    return (
        Step(
            id=f"nodes/drain/{node.name}",
            action=DrainNode(node=node.name, uid=node.uid, seconds=how.seconds),
            stage=how.stage,
            reason=how.reason,
            holds=(cordon(node),),
            needs=how.needs,
            deadline=how.seconds + _SPARE,
            lanes=("drain",),
            node=node.name,
            seconds=60.0,
        ),
    )


def cordon(node: SeenNode) -> Cordon:
    """The hold that keeps new pods away from a node, for every step that needs it empty."""
    return Cordon(node=node.name, uid=node.uid)


def removal(node: SeenNode, how: Leaving) -> Step:
    """Have Kubernetes forget a node whose machine is gone."""
    return Step(
        id=f"nodes/remove/{node.name}",
        action=RemoveNode(node=node.name, uid=node.uid),
        stage=how.stage,
        reason=how.reason,
        needs=how.needs,
        node=node.name,
        seconds=1.0,
    )


def strays(observed: ObservedKubernetes, wanted: frozenset[str]) -> tuple[SeenNode, ...]:
    """Nodes that Kubernetes knows and nobody wants, by name."""
    return tuple(one for one in observed.nodes or () if one.name not in wanted)
