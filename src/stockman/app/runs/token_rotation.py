"""Plans that renew tokens of Proxmox VE: new ones tried, kept and pushed before old ones go."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from stockman.app.runs.apply import PUSHED
from stockman.app.runs.repository import FollowedBranch, check_repository
from stockman.app.runs.session import Session
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.access.rotation import plan_rotation
from stockman.planning.change import unique_steps as steps_of
from stockman.planning.kubernetes.stage import FLUX
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
    """What it takes to renew tokens: those of `names`, or all where it is empty."""
    workspace, problems = session.workspace, Problems()
    seen = await session.planner.observe(session.ports)
    desired, cluster = workspace.desired, workspace.cluster
    in_cluster = cluster is not None and seen.api_answers
    changes = plan_rotation(desired, seen.proxmox, names, problems, in_cluster=in_cluster)
    made = list(steps_of(changes))
    if made and (in_cluster or push):
        followed = await _followed_branch(session)
        if push:
            problems.extend(await check_repository(session.ports.to_repo(), followed, push=True))
        wish = session.planner.wish
        way = TokenDelivery(
            cluster=cluster.name if cluster is not None else "",
            branch=followed.branch,
            request=session.ports.clock.now().isoformat() if _has_flux(seen) else "",
            files=wish.files if wish is not None else (),
        )
        made = add_delivery(made, way, push=push)
    plan = Plan(
        cluster=owner_of(desired),
        made_at=session.ports.clock.now(),
        steps=tuple(made),
        desired=digest(desired),
    )
    return Planned(changes=changes, plan=build_plan(plan), problems=problems, observed=seen)


@record
class TokenDelivery:
    """How new tokens reach the repository, and from there a cluster."""

    cluster: str
    """Empty: there is none, and nothing that is rendered for it."""
    branch: str
    request: str
    """What Flux is asked with to look at once. Empty: it is not there to be asked."""
    files: tuple[str, ...] = ()
    """What is committed. Empty: what every cluster has."""


async def _followed_branch(session: Session) -> FollowedBranch:
    """The branch that a cluster follows; without one, that which is checked out."""
    cluster = session.workspace.cluster
    if cluster is not None:
        return FollowedBranch(url=cluster.repository.url, branch=cluster.repository.branch)
    try:
        state = await session.ports.to_repo().state()
    except StockmanError:
        return FollowedBranch(
            url="", branch=""
        )  # Whoever looks at the repository says what it lacks.
    return FollowedBranch(url="", branch=state.branch or "")


def _has_flux(seen: Observed) -> bool:
    found = seen.kubernetes
    return found is not None and found.of_flux(GIT_REPOSITORIES.name, FLUX, FLUX) is not None


def add_delivery(made: list[Step], way: TokenDelivery, *, push: bool) -> list[Step]:
    """New tokens are rendered and pushed before anybody deletes an old one.

    That goes for the token of stockman itself, too: others have it from the repository.
    """
    renewed = tuple(step.id for step in made if step.id.startswith("access/renew/"))
    why = "components read their tokens from what is pushed"
    if not way.cluster:
        why = "whoever works with these files has the tokens from what is pushed"
    render = Step(
        id=RENDER_STEP,
        action=WriteRenderedFiles(cluster=way.cluster),
        stage=Stage.ACCESS,
        reason=why,
        needs=renewed,
        seconds=2.0,
    )
    rendering = [render] if way.cluster else []
    before = (render.id,) if way.cluster else renewed
    pushed = Step(
        id=PUSHED,
        action=Checkpoint(text=f"see that branch {way.branch} is pushed as it was rendered"),
        stage=Stage.KUBERNETES,
        reason=why,
        gates=(CommitPushed(branch=way.branch, places=MANAGED_PATHS),),
        needs=before,
    )
    between = [*rendering, pushed]
    if push:
        pushing = Step(
            id=_PUSH,
            action=PushRepository(
                branch=way.branch,
                message="Renew tokens of Proxmox VE",
                places=way.files or MANAGED_PATHS,
            ),
            stage=Stage.KUBERNETES,
            reason=why,
            needs=before,
            seconds=3.0,
        )
        between = [*rendering, pushing, replace(pushed, needs=(pushing.id,))]
    if way.request:
        look = Reconcile(of=GIT_REPOSITORIES, namespace=FLUX, name=FLUX, request=way.request)
        asked = Step(
            id=f"kubernetes/reconcile/{GIT_REPOSITORIES.plural}",
            action=look,
            stage=Stage.KUBERNETES,
            reason="Flux looks by itself only now and then",
            needs=(PUSHED,),
            seconds=15.0,
        )
        between.append(asked)
    last = between[-1].id
    after = [
        replace(step, needs=(*step.needs, last if step.gates else PUSHED), stage=Stage.KUBERNETES)
        for step in made
        if step.id not in renewed
    ]
    return [*(step for step in made if step.id in renewed), *between, *after]
