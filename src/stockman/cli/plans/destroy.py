"""`stockman destroy`: the end of a cluster."""

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
        "stockman destroy": "see what would go, and type the name of the cluster",
        "stockman destroy --yes --name k8s": "without being asked",
        "stockman destroy --prune --keep-access": "images too, but not users and tokens",
    }
)
@click.option(
    "--name",
    default="",
    metavar="NAME",
    shell_complete=complete_clusters,
    help="Name of the cluster, or of guests without one, instead of typing.",
)
@click.option("--prune", is_flag=True, help="Also delete the images of its nodes.")
@click.option("--keep-access", is_flag=True, help="Leave users, tokens and roles as they are.")
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
    """Delete the VMs of the cluster and its guests, and all that stockman made for them.

    Machines go by number, name and UUID together. Data disks, backups, volumes of Kubernetes and
    machines of others stay, and so do mappings of devices, which belong to hosts; what stays of
    the cluster is listed. The name of the cluster has to be typed, or given with --yes --name;
    guests without a cluster have the name that `cluster_name` says, or `guests`. The files of this
    directory stay as they are: `stockman apply` makes all of it again, empty.

    Exits with 0 when everything is gone, with 4 when it failed after a part was done, with 1 when
    it failed before that, with 3 when a gate refused it, and with 130 after Ctrl-C. With -o json
    the plan, its warnings and every entry of the journal are lines, and the last is the outcome.
    """
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.runs.session import SessionContext
    from stockman.cli.runs.report import report_problems_as_events
    from stockman.planning.destruction import DestructionScope

    place = SessionContext(
        directory=options.directory(ctx),
        environment=os.environ,
        clock=SystemTimekeeper(),
        entropy=SystemEntropy(),
    )
    extent = DestructionScope(prune=prune, access=not keep_access)
    asking = DestroyRun(name=name, yes=yes, output=output)
    with report_problems_as_events(output, place.clock):
        return asyncio.run(asking.destroyed(place, extent, login(admin)))


class DestroyRun:
    """One call of the command: what was agreed to beforehand, and how things are shown."""

    def __init__(self, *, name: str, yes: bool, output: Output) -> None:
        self._name = name
        self._yes = yes
        self._output = output

    async def destroyed(
        self, place: SessionContext, extent: DestructionScope, admin: Login | None
    ) -> int:
        """Show what goes and what stays, ask for the name, and do it."""
        from stockman.app.runs.destroy import plan_destruction
        from stockman.app.runs.session import open_session
        from stockman.cli.plans.apply import ApplyRun
        from stockman.cli.plans.data import PlanView
        from stockman.cli.runs.report import show_refused_plan, show_run_plan

        async with open_session(place, admin) as session:
            found = await plan_destruction(session, extent)
            if found.problems.errors:
                show_refused_plan(found, place.clock.now(), self._output)
                return Exit.FAILED
            view = PlanView(
                plan=found.plan, changes=found.changes, warnings=tuple(found.problems.warnings)
            )
            show_run_plan(view, place.clock.now(), self._output)
            if found.plan.is_empty:
                return Exit.DONE
            has_cluster = session.workspace.cluster is not None
            if not self._agreed(found.plan.cluster, has_cluster=has_cluster):
                current_screen().note("nothing was changed")
                return Exit.FAILED
            applying = ApplyRun(place, self._output, yes=True)
            return await applying.run(session, found.plan)

    def _agreed(self, cluster: str, *, has_cluster: bool) -> bool:
        """Whether the user knows what is destroyed: by its name."""
        from stockman.cli.terminal.prompts import ask
        from stockman.model.errors import WrongUsage

        if self._yes or self._name:
            if self._yes and self._name == cluster:
                return True
            raise WrongUsage(missing_cluster_name(cluster, self._name, yes=self._yes))
        asked = f"type the name of the cluster, {cluster}, to destroy it"
        if not has_cluster:
            asked = f"there is no cluster: type {cluster} to destroy the guests that are listed"
        return ask(asked, option="--yes --name") == cluster


def missing_cluster_name(cluster: str, name: str, *, yes: bool) -> Problem:
    why = f"--name is {name}, and what is destroyed is {cluster}" if name else ""
    if not yes:
        why = "--name agrees to nothing without --yes"
    return Problem(
        code="cli.unnamed-cluster",
        what="a cluster, or guests without one, are destroyed by their name only",
        why=why or "--yes alone does not say what is meant",
        fix=f"give both: `stockman destroy --yes --name {cluster}`",
    )
