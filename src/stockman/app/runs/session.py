"""A session with a cluster: files, clients, plans and runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.rendering.tree import ReadOnlyTree
from stockman.app.runs.connections import open_clients
from stockman.app.runs.plans import Planner, PlanOptions
from stockman.app.runs.repository import FollowedBranch, check_repository
from stockman.app.runs.store import open_run_store
from stockman.app.runs.workspace import RunWorkspace
from stockman.engine.lifecycle import RunHome
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import lane_widths
from stockman.planning.change import unique_steps as steps_of
from stockman.planning.destruction import DestructionScope
from stockman.planning.destruction import plan_destruction as destruction
from stockman.planning.planned import Planned
from stockman.planning.stages.proxmox import digest_touched_guests
from stockman.ports.system import Entropy, Timekeeper
from stockman.steps.digest import digest
from stockman.steps.plan import Plan, build_plan
from stockman.steps.ports import Ports
from stockman.steps.step import Stage

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login


@record
class SessionContext:
    """Directory, environment and clock of a session."""

    directory: Path
    environment: Mapping[str, str] = field(repr=False)
    clock: Timekeeper
    entropy: Entropy


@record
class Session:
    """Everything that plans and runs need."""

    workspace: RunWorkspace
    planner: Planner
    ports: Ports
    home: RunHome

    async def plan(self, options: PlanOptions = PlanOptions()) -> Planned:  # noqa: B008  # never changes
        """Observe everything and make a plan."""
        planned = await self.planner.plan(self.ports, options)
        cluster, repo = self.workspace.cluster, self.ports.repo
        if cluster is None or repo is None or not _brings_kubernetes(planned.plan):
            return planned
        followed = FollowedBranch(url=cluster.repository.url, branch=cluster.repository.branch)
        problems = await check_repository(repo, followed, push=options.push)
        return replace(planned, problems=Problems([*planned.problems, *problems]))


def _brings_kubernetes(plan: Plan) -> bool:
    return any(step.stage is Stage.KUBERNETES for step in plan.steps)


@asynccontextmanager
async def open_session(
    context: SessionContext, admin: Login | None = None, *, only_looks: bool = False
) -> AsyncIterator[Session]:
    """Open a session until the context ends; `admin` grants access to Proxmox VE.

    With `only_looks`, undecided rendered files are ignored.
    """
    from stockman.adapters.network import SocketNetwork

    workspace = RunWorkspace(context.directory, context.environment, context.clock, context.entropy)
    if only_looks:
        workspace.tree = ReadOnlyTree(workspace.directory, workspace.render_context)
    planner = Planner(workspace, SocketNetwork())
    async with (
        open_run_store(context.directory, context.environment, context.clock) as home,
        open_clients(workspace, context.clock, admin) as ports,
    ):
        yield Session(workspace=workspace, planner=planner, ports=ports, home=home)


async def plan_destruction(session: Session, extent: DestructionScope) -> Planned:
    """Plan to delete everything by identity; machines are not contacted, they go with their VMs."""
    desired, problems = session.workspace.desired, Problems()
    observed = await session.planner.observe_proxmox(session.ports)
    changes = destruction(desired, observed.proxmox, problems, extent)
    steps = steps_of(changes)
    plan = Plan(
        cluster=session.workspace.cluster_name,
        made_at=session.ports.clock.now(),
        steps=steps,
        desired=digest(desired),
        lanes=lane_widths(steps),
    )
    touched = digest_touched_guests(observed.proxmox, plan.touches)
    complete = build_plan(replace(plan, touched=touched))
    return Planned(changes=changes, plan=complete, problems=problems, observed=observed)
