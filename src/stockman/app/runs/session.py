"""A session with a cluster: files, clients, plans and runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.rendering.render import ReadOnlyTree
from stockman.app.runs.connections import open_clients
from stockman.app.runs.history import open_run_store
from stockman.app.runs.plans import Planner, PlanOptions
from stockman.app.runs.workspace import RunWorkspace
from stockman.assessment.doctor.servers import git_address
from stockman.engine.etcd_records import EtcdRecords
from stockman.engine.lifecycle import RunHome
from stockman.model.errors import StockmanError
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
from stockman.planning.change import lane_widths
from stockman.planning.change import unique_steps as steps_of
from stockman.planning.destruction import DestructionScope
from stockman.planning.destruction import plan_destruction as destruction
from stockman.planning.planned import Planned
from stockman.planning.stages.proxmox import digest_touched_guests
from stockman.ports import repository_errors as refusals
from stockman.ports.repository import GitRepository, PushTarget, RepositoryState
from stockman.ports.system import Entropy, Timekeeper
from stockman.steps.digest import digest
from stockman.steps.kubernetes.problems import missing_push
from stockman.steps.plan import Plan, build_plan
from stockman.steps.ports import Ports
from stockman.steps.repository import MANAGED_PATHS, CommitPushed
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
        if cluster is None or repo is None:
            return planned
        followed = FollowedBranch(url=cluster.repository.url, branch=cluster.repository.branch)
        if _brings_kubernetes(planned.plan):
            problems = await check_repository(repo, followed, push=options.push)
        elif planned.observed.api_answers:
            problems = await self._unpushed_changes(followed.branch)
        else:
            return planned
        return replace(planned, problems=Problems([*planned.problems, *problems]))

    async def _unpushed_changes(self, branch: str) -> Problems:
        """Return a warning if the cluster follows another commit than the work tree has."""
        desired = self.planner.desired_kubernetes
        places = desired.files if desired is not None and desired.files else MANAGED_PATHS
        try:
            why = await CommitPushed(branch=branch, places=places).difference(self.ports)
        except StockmanError as error:
            return Problems([_warning(error.problem)])
        return Problems([_warning(missing_push(branch, why))] if why else [])


def _brings_kubernetes(plan: Plan) -> bool:
    return any(step.stage is Stage.KUBERNETES for step in plan.steps)


@asynccontextmanager
async def open_session(
    context: SessionContext, admin: Login | None = None, *, only_looks: bool = False
) -> AsyncIterator[Session]:
    """Open a session until the context ends; `admin` grants access to Proxmox VE.

    With `only_looks`, undecided rendered files and the administrator are ignored, and no file is
    created.
    """
    from stockman.adapters.network import SocketNetwork

    workspace = RunWorkspace(
        context.directory,
        context.environment,
        context.clock,
        context.entropy,
        creates_identity=not only_looks,
    )
    if only_looks:
        workspace.tree = ReadOnlyTree(workspace.directory, workspace.render_context)
    async with (
        open_run_store(context.directory, context.environment, context.clock) as home,
        open_clients(workspace, context.clock, admin, grants_access=not only_looks) as ports,
    ):
        signed = replace(home, signer=workspace.signer)
        records = EtcdRecords(signed.runs, context.clock, signed.signer)
        planner = Planner(workspace, SocketNetwork(), records)
        yield Session(workspace=workspace, planner=planner, ports=ports, home=signed)


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
        ends_cluster=True,
    )
    touched = digest_touched_guests(observed.proxmox, plan.touches)
    complete = build_plan(replace(plan, touched=touched))
    return Planned(changes=changes, plan=complete, problems=problems, observed=observed)


async def knows_etcd(session: Session) -> bool:
    """Return whether a recorded run knows an etcd, which only a completed `destroy` ends."""
    home = session.home
    records = EtcdRecords(home.runs, session.ports.clock, home.signer)
    return bool(await records.find_earlier_etcd(()))


_SHOWN = 12
PLACEHOLDER_OWNER = "example"
"""Owner of the repository that files of `init` name until somebody names the real one."""


@record
class FollowedBranch:
    """Repository and branch that the cluster follows."""

    url: str
    branch: str


async def check_repository(
    repo: GitRepository, followed: FollowedBranch, *, push: bool
) -> Problems:
    """Return why the cluster cannot follow the local state.

    With `push` these are errors, otherwise warnings, because the user may fix them meanwhile.
    """
    further: tuple[Problem, ...] = ()
    try:
        state, prospect = await repo.state(), await repo.push_target()
        standing = tuple(_state_problems(state, prospect, followed.branch, push=push))
        further = tuple(_other_remote(prospect, followed))
        if push and not standing:
            standing = tuple(await _foreign_commits(repo, state, prospect))
    except StockmanError as error:
        standing = (error.problem,)
    problems = standing if push else tuple(_warning(state_problem) for state_problem in standing)
    return Problems([*problems, *further])


def _state_problems(
    state: RepositoryState, prospect: PushTarget, followed: str, *, push: bool
) -> Iterator[Problem]:
    if prospect.below:
        yield refusals.not_top_directory(prospect.below).problem
        return
    if state.branch != followed:
        yield _branch(state, followed)
    if prospect.remote is None:
        yield refusals.missing_remote("it has none that the branch would go to").problem
    if push and not prospect.has_identity:
        yield refusals.missing_identity().problem


async def _foreign_commits(
    repo: GitRepository, state: RepositoryState, prospect: PushTarget
) -> list[Problem]:
    """Return the problem of remote commits that would make a push fail."""
    remote = await repo.fetch()
    if remote is None or remote == state.commit:
        return []
    missing = await repo.commits(remote, since=state.commit or "", most=1)
    if not missing:
        return []
    why = f"the remote has {remote[:_SHOWN]}, here is {(state.commit or 'no commit')[:_SHOWN]}"
    return [refusals.remote_ahead(prospect.upstream, why).problem]


def _branch(state: RepositoryState, followed: str) -> Problem:
    if state.branch is None:
        return refusals.detached_head_error(".").problem
    return refusals.other_branch(state.branch, followed).problem


def _other_remote(prospect: PushTarget, followed: FollowedBranch) -> Iterator[Problem]:
    """Compare the remote with the repository, unless one of them is local."""
    ours = git_address(prospect.remote) if prospect.remote else None
    theirs = git_address(followed.url)
    if ours is None or theirs is None or ours.is_same(theirs):
        return
    if theirs.path.partition("/")[0] == PLACEHOLDER_OWNER:
        yield refusals.placeholder_repository(str(ours), str(theirs)).problem
    else:
        yield _warning(refusals.other_remote(str(ours), str(theirs)).problem)


def _warning(problem: Problem) -> Problem:
    return replace(problem, severity=Severity.WARNING)
