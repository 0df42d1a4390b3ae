"""Plans that renew tokens of Proxmox VE: new ones tried, kept and pushed before old ones go."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from stockman.app.applying import PUSHED
from stockman.app.plans import Planned
from stockman.app.session import Session
from stockman.model.problem import Problems
from stockman.planning.access_rotation import rotation
from stockman.planning.composition import RENDER
from stockman.planning.proxmox_change import steps as steps_of
from stockman.steps.checkpoint import Checkpoint
from stockman.steps.digest import digest
from stockman.steps.kube_pushed import Pushed, PushTree
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
    if in_cluster and cluster is not None and made:
        made = _delivered(made, cluster.name, cluster.repository.branch, push=push)
    plan = Plan(
        cluster=cluster.name if cluster is not None else "guests",
        made_at=session.ports.clock.now(),
        steps=tuple(made),
        desired=digest(desired),
    )
    return Planned(changes=changes, plan=planned(plan), problems=problems, observed=seen)


def _delivered(made: list[Step], cluster: str, branch: str, *, push: bool) -> list[Step]:
    """New tokens are rendered and pushed before anybody deletes an old one of a component."""
    renewed = tuple(step.id for step in made if step.id.startswith("access/renew/"))
    why = "components read their tokens from what is pushed"
    render = Step(
        id=RENDER,
        action=RenderTree(cluster=cluster),
        stage=Stage.ACCESS,
        reason=why,
        needs=renewed,
        seconds=2.0,
    )
    pushed = Step(
        id=PUSHED,
        action=Checkpoint(text=f"see that branch {branch} is pushed as it was rendered"),
        stage=Stage.KUBERNETES,
        reason=why,
        gates=(Pushed(branch=branch),),
        needs=(render.id,),
    )
    between = [render, pushed]
    if push:
        pushing = Step(
            id=_PUSH,
            action=PushTree(branch=branch, message="Renew tokens of Proxmox VE"),
            stage=Stage.KUBERNETES,
            reason=why,
            needs=(render.id,),
            seconds=3.0,
        )
        between = [render, pushing, replace(pushed, needs=(pushing.id,))]
    after = [
        replace(step, needs=(*step.needs, PUSHED)) if step.gates else step
        for step in made
        if not step.id.startswith("access/renew/")
    ]
    return [*(step for step in made if step.id in renewed), *between, *after]
