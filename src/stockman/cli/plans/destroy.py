"""`stockman destroy`: delete a cluster."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_clusters
from stockman.cli.exit import Exit
from stockman.cli.output import Output
from stockman.cli.plans.options import admin as admin_option
from stockman.cli.plans.options import login
from stockman.cli.terminal.screen import current_screen
from stockman.model.problem import Problem

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.session import SessionContext
    from stockman.planning.destruction import DestructionScope


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
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext
    from stockman.cli.plans.report import report_problems_as_events
    from stockman.planning.destruction import DestructionScope

    workspace = SessionContext(
        directory=options.directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )
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
        from stockman.app.runs.session import open_session, plan_destruction
        from stockman.cli.plans.apply import ApplyRun
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
            if destruction.plan.is_empty:
                return Exit.DONE
            has_cluster = session.workspace.cluster is not None
            if not self._is_confirmed(destruction.plan.cluster, has_cluster=has_cluster):
                current_screen().note("No changes were made.")
                return Exit.FAILED
            applying = ApplyRun(workspace, self._output, yes=True)
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
