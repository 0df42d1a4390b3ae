"""The Kubernetes stage of a plan: what it waits for, and what follows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.model.errors import Refused
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning import problems as report
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
    """What earlier stages do in the same plan."""

    talos: tuple[Step, ...]
    rendered: tuple[Step, ...]
    """Steps that write files."""
    comes_up: bool
    """Whether etcd starts, so that a silent API is expected."""


def plan_kubernetes_stage(
    desired_state: DesiredState, observed: Observed, earlier: EarlierStages, problems: Problems
) -> tuple[tuple[KubernetesChange, ...], tuple[Step, ...]]:
    """Return the changes in Kubernetes and their steps."""
    desired = desired_state.kubernetes
    if desired is None or problems.errors or not observed.beyond_proxmox:
        return (), ()
    kubernetes = observed.kubernetes if observed.api_answers else None
    if kubernetes is None and not earlier.comes_up:
        problems.add(report.api_unreachable())
    try:
        changes = plan_kubernetes_changes(desired, kubernetes)
    except Refused as error:
        problems.add(error.problem)
        return (), ()
    if kubernetes is not None:
        problems.extend(find_foreign_objects(desired, kubernetes))
    before = tuple(step.id for step in earlier.talos if _precedes_kubernetes(step))
    needs = (*before, *(step.id for step in earlier.rendered))
    context = StageContext(needs=needs, push=desired_state.push)
    only_tests = all(change.is_smoke_test for change in changes)
    if only_tests and desired_state.push and (earlier.rendered or desired_state.unpushed):
        why = desired_state.unpushed or "files are rendered by this plan"
        followed = (
            push_change(desired, why),
            *_reconcile_changes(desired, observed, "new commits were pushed"),
            *changes,
        )
        return followed, kubernetes_steps(followed, desired, replace(context, push=False))
    if desired_state.reconcile:
        changes = (*changes, *_reconcile_changes(desired, observed, "it was requested"))
    elif changes and only_tests:
        why = "components are tested as they are in the pushed commit"
        changes = (*_reconcile_changes(desired, observed, why), *changes)
    return changes, kubernetes_steps(changes, desired, context)


def _reconcile_changes(
    desired: DesiredKubernetes, observed: Observed, why: str
) -> Iterator[KubernetesChange]:
    kubernetes = observed.kubernetes
    if kubernetes is not None and observed.api_answers:
        yield from reconcile_changes(desired, kubernetes, observed.at.isoformat(), why)


def node_ready_steps(
    desired_state: DesiredState, joined: list[str], kube_steps: tuple[Step, ...]
) -> Iterator[Step]:
    """Return steps that wait until new nodes are ready in Kubernetes."""
    if desired_state.kubernetes is None:
        return
    last = (kube_steps[-1].id,) if kube_steps else ()
    for name in joined:
        yield Step(
            id=f"nodes/ready/{name}",
            action=Checkpoint(text=f"wait until node {name} is ready"),
            stage=Stage.KUBERNETES,
            reason="it is new, and pods only run on ready nodes",
            gates=(node_ready_gate(name),),
            needs=(join_step_id(name), *last),
            deadline=1800.0,
            node=name,
            seconds=30.0,
        )


def _precedes_kubernetes(step: Step) -> bool:
    """Whether the first step of the Kubernetes stage waits for this step."""
    return step.id.startswith(
        ("talos/joined/", "talos/etcd-healthy", "talos/shared-address", "talos/client-file/")
    )
