"""Execute plans, new or read from a file; plan the rotation of Proxmox tokens."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from stockman.app.runs.plans import PlanOptions
from stockman.app.runs.session import FollowedBranch, Session, check_repository
from stockman.engine.context import RunSettings, StopRequest
from stockman.engine.executor import RunOutcome
from stockman.engine.journal import Watcher, open_journal
from stockman.engine.lifecycle import RunHome, RunOptions, start_run
from stockman.engine.signing import RunSigner
from stockman.engine.state import StepProgress, fold_entries
from stockman.model.errors import Refused, StockmanError
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.planning.access.rotation import plan_rotation
from stockman.planning.change import unique_steps as steps_of
from stockman.planning.kubernetes.changes import FLUX
from stockman.planning.observed.systems import Observed
from stockman.planning.planned import Planned
from stockman.planning.repository import RENDER_STEP
from stockman.planning.vm.desired import owner_of
from stockman.ports.system import Clock
from stockman.steps.base import Checkpoint
from stockman.steps.digest import digest
from stockman.steps.kubernetes.flux import Reconcile
from stockman.steps.kubernetes.objects import GIT_REPOSITORIES
from stockman.steps.plan import Plan, build_plan, parse_plan
from stockman.steps.plan_problems import invalid_plan, unconfirmed_destruction
from stockman.steps.repository import (
    MANAGED_PATHS,
    CommitPushed,
    PushRepository,
    WriteRenderedFiles,
)
from stockman.steps.step import Stage, Step
from stockman.steps.talos.configuration import ConfigureMachine


@contextmanager
def interruptible(stop: StopRequest) -> Iterator[None]:
    """Handle SIGINT and SIGTERM: stop after the running steps, or at once the second time."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop.request)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


T = TypeVar("T")
MOVED = "plan.moved"
TOO_EARLY = "run.too-early"
_PLANS = 3
"""How often a plan is made until it is still valid when it starts."""
PUSHED = "kubernetes/pushed"
"""The step at which a run pauses until the user commits and pushes."""


@record
class ApplyOptions:
    """How a plan is executed."""

    by: str
    """Who runs it, for display."""
    stop: StopRequest
    watchers: tuple[Watcher, ...] = ()
    max_parallel: int = MAX_PARALLEL
    allow_destroy: frozenset[str] = frozenset()
    """Guests whose destruction was confirmed, by name."""


async def plan_and_execute(
    session: Session, options: PlanOptions, carried_out: Callable[[Planned], Awaitable[T]]
) -> T:
    """Make a plan and execute it.

    If the observed state changes before it starts, as after a killed run, the plan is made again a
    few times.
    """
    for _ in range(_PLANS - 1):
        try:
            return await carried_out(await session.plan(options))
        except Refused as error:
            if error.problem.code != MOVED:
                raise
    return await carried_out(await session.plan(options))


async def is_left_open(home: RunHome, clock: Clock) -> bool:
    """Whether the last run is unfinished and may still hold something."""
    listed = await home.runs.list_runs()
    if not listed:
        return False
    journal = await open_journal(await home.runs.lines(listed[-1]), clock)
    result = fold_entries(listed[-1], journal.entries).result
    return result is None or not result.is_final


async def execute_plan(session: Session, plan: Plan, manner: ApplyOptions) -> RunOutcome:
    """Execute a plan, if the user confirmed the name of every guest that it destroys.

    Raises `Refused` otherwise, or if the state it depends on has changed.
    """
    if unconfirmed := [name for name in plan.destroyed_guests if name not in manner.allow_destroy]:
        raise Refused(unconfirmed_destruction(unconfirmed))
    run_options = RunOptions(
        by=manner.by,
        stop=manner.stop,
        settings=RunSettings(max_parallel=manner.max_parallel),
        watchers=manner.watchers,
        fingerprint=session.planner.fingerprint,
    )
    return await start_run(session.home, plan, session.ports, run_options)


def read_saved_plan(path: Path, signer: RunSigner | None) -> Plan:
    """Read a plan written with `plan --out`; raises `Refused` unless `signer` has signed it.

    `signer` is None only for guests without a cluster, whose plans are not signed.
    """
    try:
        text = path.read_text("utf-8")
        plan = parse_plan(text, str(path))
        if signer is not None:
            signer.check_plan(text, str(path))
        return plan
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Refused(invalid_plan(str(path), why or type(error).__name__)) from None


def confirmed_machines(plan: Plan) -> Mapping[str, str]:
    """Return the confirmed fingerprints of machines that a plan configures, by node."""
    machines = (
        step.action.machine for step in plan.steps if isinstance(step.action, ConfigureMachine)
    )
    return {machine.node: machine.fingerprint for machine in machines}


def check_saved_plan(plan: Plan, now: Planned) -> None:
    """Raise `Refused` if the files have changed since the plan was made."""
    if plan.desired != now.plan.desired or plan.cluster != now.plan.cluster:
        raise Refused(stale_plan(plan.cluster))
    errors: Iterable[Problem] = now.problems.errors
    for problem in errors:
        raise Refused(problem)


def refuse_changed_files(plan: Plan, files: str, run: str) -> None:
    """Raise `Refused` if the files have changed since the plan of a run was made."""
    if plan.files and plan.files != files:
        raise Refused(changed_files(run))


def changed_files(run: str) -> Problem:
    return Problem(
        code="run.files-changed",
        what="the configuration was changed after the run was planned",
        where=run,
        why="the run would continue with what the files said before",
        fix="run `stockman apply`, which ends this run and plans the rest again; or restore the"
        " files to continue the run",
    )


def waits_for_push(outcome: RunOutcome) -> bool:
    """Whether a run paused until the user commits and pushes."""
    return outcome.state.step(PUSHED).progress is StepProgress.FAILED


def waits_for_window(outcome: RunOutcome) -> bool:
    """Whether only steps that wait for a maintenance window remain."""
    return bool(outcome.problems) and all(problem.code == TOO_EARLY for problem in outcome.problems)


def stale_plan(cluster: str) -> Problem:
    return Problem(
        code="plan.outdated",
        what=f"the plan was made for another configuration of {cluster}",
        why="the files changed since it was made",
        fix="plan again with `stockman plan --out FILE`",
    )


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
