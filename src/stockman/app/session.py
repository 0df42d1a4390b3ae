"""One session with a cluster: its files, its doors, its plans and its runs, all at hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.plans import Planner, PlanWish
from stockman.app.repository_outlook import Followed, repository_outlook
from stockman.app.run_doors import opened_doors
from stockman.app.run_home import opened_home
from stockman.app.tree_door import LookedAtTree
from stockman.app.workspace_plan import Workspace
from stockman.engine.carrying_out import Home
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.planned import Planned
from stockman.ports.clock import Timekeeper
from stockman.ports.entropy import Entropy
from stockman.steps.plan import Plan
from stockman.steps.ports import Ports
from stockman.steps.step import Stage

if TYPE_CHECKING:
    from stockman.adapters.http_proxmox.credentials import Login


@record
class Place:
    """Where a session takes place."""

    directory: Path
    environment: Mapping[str, str] = field(repr=False)
    clock: Timekeeper
    entropy: Entropy


@record
class Session:
    """Everything that plans and runs need."""

    workspace: Workspace
    planner: Planner
    ports: Ports
    home: Home

    async def plan(self, wish: PlanWish = PlanWish()) -> Planned:  # noqa: B008  # never changes
        """Look at everything, and say what is to be done."""
        planned = await self.planner.plan(self.ports, wish)
        cluster, repo = self.workspace.cluster, self.ports.repo
        if cluster is None or repo is None or not _brings_kubernetes(planned.plan):
            return planned
        followed = Followed(url=cluster.repository.url, branch=cluster.repository.branch)
        found = await repository_outlook(repo, followed, push=wish.push)
        return replace(planned, problems=Problems([*planned.problems, *found]))


def _brings_kubernetes(plan: Plan) -> bool:
    return any(step.stage is Stage.KUBERNETES for step in plan.steps)


@asynccontextmanager
async def opened_session(
    place: Place, admin: Login | None = None, *, only_looks: bool = False
) -> AsyncIterator[Session]:
    """A session that is closed after use. `admin` grants access to Proxmox VE.

    Who only looks is not stopped by rendered files that wait for a decision.
    """
    from stockman.adapters.network import SocketNetwork

    workspace = Workspace(place.directory, place.environment, place.clock, place.entropy)
    if only_looks:
        workspace.tree = LookedAtTree(workspace.directory, workspace.render_doors)
    planner = Planner(workspace, SocketNetwork())
    async with (
        opened_home(place.directory, place.environment, place.clock) as home,
        opened_doors(workspace, place.clock, admin) as ports,
    ):
        yield Session(workspace=workspace, planner=planner, ports=ports, home=home)
