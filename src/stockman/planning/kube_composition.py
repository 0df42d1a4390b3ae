"""The Kubernetes stage behind the stages before it: what it waits for, and what follows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import composition_problems as say
from stockman.planning import kube_stage
from stockman.planning.kube_foreign import foreign
from stockman.planning.kube_stage import KubernetesChange
from stockman.planning.kube_wish import KubernetesWish
from stockman.planning.observed import Observed
from stockman.planning.rolling import node_ready
from stockman.planning.talos_step_names import joined_id
from stockman.planning.wishes import Wishes
from stockman.steps.checkpoint import Checkpoint
from stockman.steps.step import Stage, Step


@record
class Earlier:
    """What the stages before do in the same plan."""

    talos: tuple[Step, ...]
    rendered: tuple[Step, ...]
    """Files are written by these."""
    comes_up: bool
    """Whether etcd begins, so that nobody wonders at an API that is silent yet."""


def kubernetes_stage(
    wishes: Wishes, seen: Observed, earlier: Earlier, problems: Problems
) -> tuple[tuple[KubernetesChange, ...], tuple[Step, ...]]:
    """What differs in Kubernetes, and the steps of it."""
    wish = wishes.kubernetes
    if wish is None or problems.errors or not seen.beyond_proxmox:
        return (), ()
    observed = seen.kubernetes if seen.api_answers else None
    if observed is None and not earlier.comes_up:
        problems.add(say.api_silent())
    try:
        changes = kube_stage.changes(wish, observed)
    except Refused as no:
        problems.add(no.problem)
        return (), ()
    if observed is not None:
        problems.extend(foreign(wish, observed))
    before = tuple(step.id for step in earlier.talos if _is_before_kubernetes(step))
    needs = (*before, *(step.id for step in earlier.rendered))
    around = kube_stage.Around(needs=needs, push=wishes.push)
    if not changes and wishes.push and (earlier.rendered or wishes.unpushed):
        why = wishes.unpushed or "files are rendered by this plan"
        followed = (kube_stage.pushing(wish, why), *_reconciled(wish, seen, "it was pushed"))
        return followed, kube_stage.steps(followed, wish, replace(around, push=False))
    if wishes.reconcile:
        changes = (*changes, *_reconciled(wish, seen, "it was asked for"))
    return changes, kube_stage.steps(changes, wish, around)


def _reconciled(wish: KubernetesWish, seen: Observed, why: str) -> Iterator[KubernetesChange]:
    observed = seen.kubernetes
    if observed is not None and seen.api_answers:
        yield from kube_stage.reconciling(wish, observed, seen.at.isoformat(), why)


def ready_nodes(wishes: Wishes, joined: list[str], kube_steps: tuple[Step, ...]) -> Iterator[Step]:
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
            gates=(node_ready(name),),
            needs=(joined_id(name), *last),
            deadline=1800.0,
            node=name,
            seconds=30.0,
        )


def _is_before_kubernetes(step: Step) -> bool:
    """What the first step of the Kubernetes stage waits for."""
    return step.id.startswith(
        ("talos/joined/", "talos/etcd-healthy", "talos/shared-address", "talos/client-file/")
    )
