"""Plans that renew tokens of Proxmox VE: new ones tried, kept and pushed before old ones go."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from stockman.app.applying import PUSHED
from stockman.app.repository_outlook import Followed, repository_outlook
from stockman.app.session import Session
from stockman.model.errors import StockmanError
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.access_rotation import rotation
from stockman.planning.kube_stage import FLUX
from stockman.planning.observed import Observed
from stockman.planning.planned import Planned
from stockman.planning.proxmox_change import steps as steps_of
from stockman.planning.tree_changes import RENDER
from stockman.planning.vm_wanted import owner_of
from stockman.steps.checkpoint import Checkpoint
from stockman.steps.digest import digest
from stockman.steps.kube_kinds import GIT_REPOSITORIES
from stockman.steps.kube_pushed import KEPT, Pushed, PushTree
from stockman.steps.kube_reconcile import Reconcile
from stockman.steps.plan import Plan, planned
from stockman.steps.step import Stage, Step
from stockman.steps.tree_render import RenderTree

_PUSH = "kubernetes/push"


async def rotation_plan(session: Session, names: Collection[str], *, push: bool) -> Planned:
    """What it takes to renew tokens: those of `names`, or all where it is empty."""
    workspace, problems = session.workspace, Problems()
    seen = await session.planner.observe(session.ports)
    desired, cluster = workspace.desired, workspace.cluster
    in_cluster = cluster is not None and seen.api_answers
    changes = rotation(desired, seen.proxmox, names, problems, in_cluster=in_cluster)
    made = list(steps_of(changes))
    if made and (in_cluster or push):
        followed = await _followed(session)
        if push:
            problems.extend(await repository_outlook(session.ports.to_repo(), followed, push=True))
        wish = session.planner.wish
        way = Way(
            cluster=cluster.name if cluster is not None else "",
            branch=followed.branch,
            request=session.ports.clock.now().isoformat() if _has_flux(seen) else "",
            files=wish.files if wish is not None else (),
        )
        made = delivered(made, way, push=push)
    plan = Plan(
        cluster=owner_of(desired),
        made_at=session.ports.clock.now(),
        steps=tuple(made),
        desired=digest(desired),
    )
    return Planned(changes=changes, plan=planned(plan), problems=problems, observed=seen)


@record
class Way:
    """How new tokens reach the repository, and from there a cluster."""

    cluster: str
    """Empty: there is none, and nothing that is rendered for it."""
    branch: str
    request: str
    """What Flux is asked with to look at once. Empty: it is not there to be asked."""
    files: tuple[str, ...] = ()
    """What is committed. Empty: what every cluster has."""


async def _followed(session: Session) -> Followed:
    """The branch that a cluster follows; without one, that which is checked out."""
    cluster = session.workspace.cluster
    if cluster is not None:
        return Followed(url=cluster.repository.url, branch=cluster.repository.branch)
    try:
        state = await session.ports.to_repo().state()
    except StockmanError:
        return Followed(url="", branch="")  # Whoever looks at the repository says what it lacks.
    return Followed(url="", branch=state.branch or "")


def _has_flux(seen: Observed) -> bool:
    found = seen.kubernetes
    return found is not None and found.of_flux(GIT_REPOSITORIES.name, FLUX, FLUX) is not None


def delivered(made: list[Step], way: Way, *, push: bool) -> list[Step]:
    """New tokens are rendered and pushed before anybody deletes an old one.

    That goes for the token of stockman itself, too: others have it from the repository.
    """
    renewed = tuple(step.id for step in made if step.id.startswith("access/renew/"))
    why = "components read their tokens from what is pushed"
    if not way.cluster:
        why = "whoever works with these files has the tokens from what is pushed"
    render = Step(
        id=RENDER,
        action=RenderTree(cluster=way.cluster),
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
        gates=(Pushed(branch=way.branch, places=KEPT),),
        needs=before,
    )
    between = [*rendering, pushed]
    if push:
        pushing = Step(
            id=_PUSH,
            action=PushTree(
                branch=way.branch,
                message="Renew tokens of Proxmox VE",
                places=way.files or KEPT,
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
