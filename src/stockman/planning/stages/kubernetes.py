"""The Kubernetes stage behind the stages before it: what it waits for, and what follows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import problems as say
from stockman.planning.desired import DesiredState
from stockman.planning.kubernetes.changes import (
    KubernetesChange,
    StageContext,
    kubernetes_steps,
    plan_kubernetes_changes,
    push_change,
    reconcile_changes,
)
from stockman.planning.kubernetes.conflicts import find_foreign_objects
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.systems import Observed
from stockman.planning.rolling import node_ready_gate
from stockman.planning.talos.step_ids import join_step_id
from stockman.steps.base import Checkpoint
from stockman.steps.step import Stage, Step


@record
class EarlierStages:
    """What the stages before do in the same plan."""

    talos: tuple[Step, ...]
    rendered: tuple[Step, ...]
    """Files are written by these."""
    comes_up: bool
    """Whether etcd begins, so that nobody wonders at an API that is silent yet."""


def plan_kubernetes_stage(
    wishes: DesiredState, seen: Observed, earlier: EarlierStages, problems: Problems
) -> tuple[tuple[KubernetesChange, ...], tuple[Step, ...]]:
    """What differs in Kubernetes, and the steps of it."""
    wish = wishes.kubernetes
    if wish is None or problems.errors or not seen.beyond_proxmox:
        return (), ()
    observed = seen.kubernetes if seen.api_answers else None
    if observed is None and not earlier.comes_up:
        problems.add(say.api_unreachable())
    try:
        changes = plan_kubernetes_changes(wish, observed)
    except Refused as no:
        problems.add(no.problem)
        return (), ()
    if observed is not None:
        problems.extend(find_foreign_objects(wish, observed))
    before = tuple(step.id for step in earlier.talos if _precedes_kubernetes(step))
    needs = (*before, *(step.id for step in earlier.rendered))
    around = StageContext(needs=needs, push=wishes.push)
    if not changes and wishes.push and (earlier.rendered or wishes.unpushed):
        why = wishes.unpushed or "files are rendered by this plan"
        followed = (push_change(wish, why), *_reconcile_changes(wish, seen, "it was pushed"))
        return followed, kubernetes_steps(followed, wish, replace(around, push=False))
    if wishes.reconcile:
        changes = (*changes, *_reconcile_changes(wish, seen, "it was asked for"))
    return changes, kubernetes_steps(changes, wish, around)


def _reconcile_changes(
    wish: DesiredKubernetes, seen: Observed, why: str
) -> Iterator[KubernetesChange]:
    observed = seen.kubernetes
    if observed is not None and seen.api_answers:
        yield from reconcile_changes(wish, observed, seen.at.isoformat(), why)


def node_ready_steps(
    wishes: DesiredState, joined: list[str], kube_steps: tuple[Step, ...]
) -> Iterator[Step]:
    """New nodes are there once Kubernetes says that they are ready."""
    if wishes.kubernetes is None:
        return
    last = (kube_steps[-1].id,) if kube_steps else ()
    for name in joined:
        yield Step(
            id=f"nodes/ready/{name}",
            action=Checkpoint(text=f"wait until node {name} is ready"),
            stage=Stage.KUBERNETES,
            reason="it is new, and pods run on nodes that are ready only",
            gates=(node_ready_gate(name),),
            needs=(join_step_id(name), *last),
            deadline=1800.0,
            node=name,
            seconds=30.0,
        )


def _precedes_kubernetes(step: Step) -> bool:
    """What the first step of the Kubernetes stage waits for."""
    return step.id.startswith(
        ("talos/joined/", "talos/etcd-healthy", "talos/shared-address", "talos/client-file/")
    )
