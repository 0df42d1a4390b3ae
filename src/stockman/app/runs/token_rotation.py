"""Plan the rotation of Proxmox tokens: test, store and push new ones before deleting old ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from stockman.app.runs.apply import PUSHED
from stockman.app.runs.session import FollowedBranch, Session, check_repository
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.access.rotation import plan_rotation
from stockman.planning.change import unique_steps as steps_of
from stockman.planning.kubernetes.changes import FLUX
from stockman.planning.observed.systems import Observed
from stockman.planning.planned import Planned
from stockman.planning.repository import RENDER_STEP
from stockman.planning.vm.desired import owner_of
from stockman.steps.base import Checkpoint
from stockman.steps.digest import digest
from stockman.steps.kubernetes.flux import Reconcile
from stockman.steps.kubernetes.objects import GIT_REPOSITORIES
from stockman.steps.plan import Plan, build_plan
from stockman.steps.repository import (
    MANAGED_PATHS,
    CommitPushed,
    PushRepository,
    WriteRenderedFiles,
)
from stockman.steps.step import Stage, Step

_PUSH = "kubernetes/push"


async def plan_token_rotation(session: Session, names: Collection[str], *, push: bool) -> Planned:
    """Plan to rotate the named tokens, or all."""
    workspace, problems = session.workspace, Problems()
    observed = await session.planner.observe(session.ports)
    desired, cluster = workspace.desired, workspace.cluster
    in_cluster = cluster is not None and observed.api_answers
    changes = plan_rotation(desired, observed.proxmox, names, problems, in_cluster=in_cluster)
    steps = list(steps_of(changes))
    if steps and (in_cluster or push):
        followed = await _delivery_branch(session)
        if push:
            problems.extend(await check_repository(session.ports.to_repo(), followed, push=True))
        desired_kubernetes = session.planner.desired_kubernetes
        delivery = TokenDelivery(
            cluster=cluster.name if cluster is not None else "",
            branch=followed.branch,
            request=session.ports.clock.now().isoformat() if _has_flux(observed) else "",
            files=desired_kubernetes.files if desired_kubernetes is not None else (),
        )
        steps = add_delivery(steps, delivery, push=push)
    plan = Plan(
        cluster=owner_of(desired),
        made_at=session.ports.clock.now(),
        steps=tuple(steps),
        desired=digest(desired),
    )
    return Planned(changes=changes, plan=build_plan(plan), problems=problems, observed=observed)


@record
class TokenDelivery:
    """How new tokens reach the repository and the cluster."""

    cluster: str
    """Empty: there is no cluster, and nothing is rendered."""
    branch: str
    request: str
    """Annotation that asks Flux to reconcile. Empty: Flux does not run."""
    files: tuple[str, ...] = ()
    """Files to commit. Empty: the defaults."""


async def _delivery_branch(session: Session) -> FollowedBranch:
    """Return the branch of the cluster, or the checked-out branch without a cluster."""
    cluster = session.workspace.cluster
    if cluster is not None:
        return FollowedBranch(url=cluster.repository.url, branch=cluster.repository.branch)
    try:
        state = await session.ports.to_repo().state()
    except StockmanError:
        return FollowedBranch(url="", branch="")  # The repository check reports missing files.
    return FollowedBranch(url="", branch=state.branch or "")


def _has_flux(observed: Observed) -> bool:
    kubernetes = observed.kubernetes
    return (
        kubernetes is not None and kubernetes.of_flux(GIT_REPOSITORIES.name, FLUX, FLUX) is not None
    )


def add_delivery(steps: list[Step], delivery: TokenDelivery, *, push: bool) -> list[Step]:
    """Add steps that render and push new tokens before old ones are deleted.

    This includes stockman's own token, because others read it from the repository.
    """
    renewed = tuple(step.id for step in steps if step.id.startswith("access/renew/"))
    why = "components read their tokens from what is pushed"
    if not delivery.cluster:
        why = "whoever works with these files has the tokens from what is pushed"
    render = Step(
        id=RENDER_STEP,
        action=WriteRenderedFiles(cluster=delivery.cluster),
        stage=Stage.ACCESS,
        reason=why,
        needs=renewed,
        seconds=2.0,
    )
    rendering = [render] if delivery.cluster else []
    before = (render.id,) if delivery.cluster else renewed
    pushed = Step(
        id=PUSHED,
        action=Checkpoint(text=f"see that branch {delivery.branch} is pushed as it was rendered"),
        stage=Stage.KUBERNETES,
        reason=why,
        gates=(CommitPushed(branch=delivery.branch, places=MANAGED_PATHS),),
        needs=before,
    )
    between = [*rendering, pushed]
    if push:
        pushing = Step(
            id=_PUSH,
            action=PushRepository(
                branch=delivery.branch,
                message="Renew tokens of Proxmox VE",
                places=delivery.files or MANAGED_PATHS,
            ),
            stage=Stage.KUBERNETES,
            reason=why,
            needs=before,
            seconds=3.0,
        )
        between = [*rendering, pushing, replace(pushed, needs=(pushing.id,))]
    if delivery.request:
        look = Reconcile(of=GIT_REPOSITORIES, namespace=FLUX, name=FLUX, request=delivery.request)
        approval = Step(
            id=f"kubernetes/reconcile/{GIT_REPOSITORIES.plural}",
            action=look,
            stage=Stage.KUBERNETES,
            reason="Flux looks by itself only now and then",
            needs=(PUSHED,),
            seconds=15.0,
        )
        between.append(approval)
    last = between[-1].id
    after = [
        replace(step, needs=(*step.needs, last if step.gates else PUSHED), stage=Stage.KUBERNETES)
        for step in steps
        if step.id not in renewed
    ]
    return [*(step for step in steps if step.id in renewed), *between, *after]
