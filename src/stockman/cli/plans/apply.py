"""`stockman apply` and `destroy`: apply the configuration, or delete what it describes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_clusters
from stockman.cli.output import Exit, Output
from stockman.cli.plans.options import admin as admin_option
from stockman.cli.plans.options import allow_destroy as allow_destroy_option
from stockman.cli.plans.options import login, plan_options, plan_request, reject_shape_options
from stockman.cli.plans.options import max_parallel as max_parallel_option
from stockman.cli.terminal.prompts import confirm
from stockman.cli.terminal.screen import current_screen
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.problem import Problem

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.plans import PlanOptions
    from stockman.app.runs.session import Session, SessionContext
    from stockman.cli.plans.data import PlanView
    from stockman.cli.plans.report import RunResult
    from stockman.planning.destruction import DestructionScope
    from stockman.planning.planned import Planned
    from stockman.steps.plan import Plan


@command(
    examples={
        "stockman apply": "plan, ask for confirmation, and apply",
        "stockman apply --push": "also commit and push the rendered files for Flux",
        "stockman apply plan.json": "apply a plan saved with `stockman plan --out plan.json`",
        "stockman apply --only access --admin root@pam": (
            "create API tokens, logged in as an administrator"
        ),
        "stockman apply --push --branch update": "push to another branch, for a pull request",
        "stockman apply --push --reconcile": "also reconcile Flux immediately",
        "stockman apply --node talos-neo --yes": (
            "apply the changes of one node, without confirmation"
        ),
        "stockman apply --any-time": "restart machines outside of upgrade.windows too",
        "stockman apply --yes --allow-destroy talos-neo": (
            "apply without prompts, although the plan deletes talos-neo"
        ),
        "stockman apply --first-config talos-nas=rMWhs9V9Y30sbs9W5KNCgVRReKGrfvV0FwMtqEX4OW8=": (
            "configure a machine that stockman did not create"
        ),
    }
)
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@plan_options
@max_parallel_option
@allow_destroy_option
@options.yes_option
@options.output
@click.pass_context
def apply(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    file: str | None,
    only: tuple[str, ...],
    nodes: tuple[str, ...],
    until: str,
    push: bool,
    message: str,
    branch: str,
    prune: bool,
    reconcile: bool,
    any_time: bool,
    first_config: tuple[str, ...],
    admin: str | None,
    max_parallel: int,
    allow_destroy: tuple[str, ...],
    yes: bool,
    output: Output,
) -> int:
    """Apply the configuration: access, images, VMs, Talos, Kubernetes.

    The plan is shown and has to be confirmed; the prompt lists everything that will be destroyed.
    If the plan deletes or recreates guests, their names have to be typed, or given with
    --allow-destroy; --yes alone never destroys a guest.
    Every step checks, acts and checks again, and is recorded in a journal, so an interrupted run
    can be resumed. Press Ctrl-C once to finish the running steps and release all holds, twice to
    stop immediately. With FILE, a saved plan is applied as it is, unless something it touches has
    changed since.

    Exit status: 0 if the cluster matches the configuration, 1 if the run failed before any change,
    2 if rendered files have to be committed and pushed before the cluster can follow, or if
    restarts wait for an upgrade window, 3 if a gate or a change since planning refused the run, 4
    if it failed after making some changes, 130 after Ctrl-C. With -o json the plan, its warnings
    and every journal entry are printed as JSON lines; the last line is the result.
    """
    from stockman.cli.plans.report import report_problems_as_events

    if file is not None:
        reject_shape_options(ctx, file)
    workspace = options.session_context(ctx)
    request = plan_request(
        only,
        nodes,
        until,
        push=push,
        message=message,
        branch=branch,
        prune=prune,
        reconcile=reconcile,
        any_time=any_time,
        first_config=first_config,
    )
    command_line = ApplyRun(
        workspace,
        output,
        yes=yes,
        max_parallel=max_parallel,
        allow_destroy=frozenset(allow_destroy),
    )
    with report_problems_as_events(output, workspace.clock):
        return asyncio.run(command_line.plan_and_run(file, request, login(admin)))


class ApplyRun:
    """One invocation of a command that executes a plan."""

    def __init__(
        self,
        workspace: SessionContext,
        output: Output,
        *,
        yes: bool,
        max_parallel: int = MAX_PARALLEL,
        allow_destroy: frozenset[str] = frozenset(),
    ) -> None:
        """`allow_destroy` are guests whose destruction is confirmed."""
        self._allow_destroy = allow_destroy
        self._context = workspace
        self._output = output
        self._yes = yes
        self._max_parallel = max_parallel

    async def plan_and_run(
        self, file: str | None, request: PlanOptions, admin: Login | None
    ) -> int:
        """Plan, ask for confirmation, and execute; returns the exit status."""
        from pathlib import Path

        from stockman.app.runs.apply import (
            check_saved_plan,
            confirmed_machines,
            plan_and_execute,
            read_saved_plan,
        )
        from stockman.app.runs.session import open_session
        from stockman.cli.plans.data import PlanView

        async with open_session(self._context, admin) as session:
            if file is None:
                return await plan_and_execute(session, request, partial(self.run_planned, session))
            saved_plan = read_saved_plan(Path(file), session.home.signer)

            request = replace(request, first_config=confirmed_machines(saved_plan))
            current = await session.plan(request)
            check_saved_plan(saved_plan, current)
            view = PlanView(plan=saved_plan, warnings=tuple(current.problems.warnings))
            return await self.confirm_and_run(session, view)

    async def run_planned(self, session: Session, planned: Planned) -> int:
        """Execute a plan that was just made, unless it has errors."""
        from stockman.cli.plans.data import PlanView
        from stockman.cli.plans.report import show_refused_plan

        if planned.problems.errors:
            show_refused_plan(planned, self._context.clock.now(), self._output)
            return Exit.FAILED
        view = PlanView(
            plan=planned.plan, changes=planned.changes, warnings=tuple(planned.problems.warnings)
        )
        return await self.confirm_and_run(session, view)

    async def confirm_and_run(self, session: Session, view: PlanView) -> int:
        """Show a plan, ask for confirmation, and execute it."""
        from stockman.app.runs.apply import is_left_open
        from stockman.cli.plans.report import show_run_plan

        # Holds of an unfinished run are released even if there are no other changes.
        has_no_work = view.plan.is_empty and not await is_left_open(
            session.home, self._context.clock
        )
        show_run_plan(view, self._context.clock.now(), self._output)
        if has_no_work:
            return Exit.DONE
        if not view.plan.is_empty and not self._is_confirmed(view.plan):
            current_screen().note("No changes were made.")
            return Exit.FAILED
        return await self.run(session, view.plan)

    def _is_confirmed(self, plan: Plan) -> bool:
        """Return whether the user confirmed the plan, and each guest that it destroys by name."""
        from stockman.cli.plans.view import destroy_question
        from stockman.cli.terminal.prompts import ask
        from stockman.model.errors import Refused
        from stockman.steps.plan_problems import unconfirmed_destruction

        unconfirmed = [name for name in plan.destroyed_guests if name not in self._allow_destroy]
        if not unconfirmed:
            return confirm(destroy_question(plan), yes=self._yes)
        if self._yes or not current_screen().can_prompt:
            raise Refused(unconfirmed_destruction(unconfirmed))
        names = " ".join(unconfirmed)
        question = f"{destroy_question(plan)}\nType {names} to destroy and execute"
        if ask(question, option="--yes --allow-destroy").split() != unconfirmed:
            return False
        self._allow_destroy |= frozenset(unconfirmed)
        return True

    async def run(self, session: Session, plan: Plan) -> int:
        """Execute a plan without asking, and print the result."""
        from stockman.cli.plans.report import exit_status, show_result

        result = await self._run(session, plan)
        show_result(result, self._output)
        return exit_status(result.outcome)

    async def _run(self, session: Session, plan: Plan) -> RunResult:
        from stockman.app.runs.apply import ApplyOptions, execute_plan, interruptible
        from stockman.app.runs.history import current_user
        from stockman.cli.live.view import LivePlan, live_view
        from stockman.cli.plans.report import RunResult
        from stockman.engine.context import StopRequest

        clock, stop = self._context.clock, StopRequest()
        began = clock.now()
        async with live_view(LivePlan(plan=plan, stop=stop), clock, self._output) as watcher:
            with interruptible(stop):
                apply_options = ApplyOptions(
                    by=current_user(),
                    stop=stop,
                    watchers=(watcher,),
                    max_parallel=self._max_parallel,
                    allow_destroy=self._allow_destroy,
                )
                outcome = await execute_plan(session, plan, apply_options)
        seconds = (clock.now() - began).total_seconds()
        return RunResult(outcome=outcome, plan=plan, seconds=seconds)


@command(
    examples={
        "stockman destroy": "show what would be deleted, and confirm with the cluster name",
        "stockman destroy --yes --name k8s": "delete without a prompt",
        "stockman destroy --prune --keep-access": "also delete images, but keep users and tokens",
    }
)
@click.option(
    "--name",
    default="",
    metavar="NAME",
    shell_complete=complete_clusters,
    help="Cluster name, to confirm without a prompt.",
)
@click.option("--prune", is_flag=True, help="Also delete the images of the nodes.")
@click.option("--keep-access", is_flag=True, help="Keep users, tokens and roles.")
@admin_option
@options.yes_option
@options.output
@click.pass_context
def destroy(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    name: str,
    prune: bool,
    keep_access: bool,
    admin: str | None,
    yes: bool,
    output: Output,
) -> int:
    """Delete the VMs of the cluster, its guests, and what was created for them.

    A VM is deleted only if its ID, name and UUID match. Data disks, backups, Kubernetes volumes and
    other VMs are kept, and so are device mappings, which belong to hosts; what is kept of the
    cluster is listed. Confirm by typing the name of the cluster, or use --yes --name; for guests
    without a cluster use their `cluster_name`, or `guests`. The files of this directory are kept:
    `stockman apply` creates an empty cluster from them again.

    Exit status: 0 if everything was deleted, 1 if the run failed before any change, 3 if a gate
    refused it, 4 if it failed after some changes, 130 after Ctrl-C. With -o json the plan, its
    warnings and every journal entry are printed as JSON lines; the last line is the result.
    """
    from stockman.cli.plans.report import report_problems_as_events
    from stockman.planning.destruction import DestructionScope

    workspace = options.session_context(ctx)
    extent = DestructionScope(prune=prune, access=not keep_access)
    destroy_run = DestroyRun(name=name, yes=yes, output=output)
    with report_problems_as_events(output, workspace.clock):
        return asyncio.run(destroy_run.execute(workspace, extent, login(admin)))


class DestroyRun:
    """One invocation of the command: confirmation and output."""

    def __init__(self, *, name: str, yes: bool, output: Output) -> None:
        self._name = name
        self._yes = yes
        self._output = output

    async def execute(
        self, workspace: SessionContext, extent: DestructionScope, admin: Login | None
    ) -> int:
        """Show what is deleted and what is kept, ask for the name, and execute."""
        from stockman.app.runs.session import knows_etcd, open_session, plan_destruction
        from stockman.cli.plans.data import PlanView
        from stockman.cli.plans.report import show_refused_plan, show_run_plan

        async with open_session(workspace, admin) as session:
            destruction = await plan_destruction(session, extent)
            if destruction.problems.errors:
                show_refused_plan(destruction, workspace.clock.now(), self._output)
                return Exit.FAILED
            view = PlanView(
                plan=destruction.plan,
                changes=destruction.changes,
                warnings=tuple(destruction.problems.warnings),
            )
            show_run_plan(view, workspace.clock.now(), self._output)
            if destruction.plan.is_empty and not await knows_etcd(session):
                return Exit.DONE
            has_cluster = session.workspace.cluster is not None
            if not self._is_confirmed(destruction.plan.cluster, has_cluster=has_cluster):
                current_screen().note("No changes were made.")
                return Exit.FAILED
            names = frozenset(destruction.plan.destroyed_guests)
            applying = ApplyRun(workspace, self._output, yes=True, allow_destroy=names)
            return await applying.run(session, destruction.plan)

    def _is_confirmed(self, cluster: str, *, has_cluster: bool) -> bool:
        """Return whether the user confirmed the name of what is destroyed."""
        from stockman.cli.terminal.prompts import ask
        from stockman.model.errors import WrongUsage

        if self._yes or self._name:
            if self._yes and self._name == cluster:
                return True
            raise WrongUsage(missing_cluster_name(cluster, self._name, yes=self._yes))
        question = f"Type the name of the cluster, {cluster}, to destroy it"
        if not has_cluster:
            question = f"There is no cluster. Type {cluster} to destroy the guests listed above"
        return ask(question, option="--yes --name") == cluster


def missing_cluster_name(cluster: str, name: str, *, yes: bool) -> Problem:
    why = f"--name is {name}, but the cluster to destroy is {cluster}" if name else ""
    if not yes:
        why = "--name has no effect without --yes"
    return Problem(
        code="cli.unnamed-cluster",
        what="destroying needs the name of the cluster",
        why=why or "--yes alone does not name the cluster",
        fix=f"give both: `stockman destroy --yes --name {cluster}`",
    )
