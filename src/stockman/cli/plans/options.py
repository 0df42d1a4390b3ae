"""Options of commands that make plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stockman.cli.completion import complete_stages_and_steps, complete_subjects
from stockman.cli.options import Choice
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.problem import Problem

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.plans import PlanOptions

F = TypeVar("F", bound=Callable[..., Any])
STAGES = ("access", "images", "vms", "talos", "kubernetes")
_PLAN_SHAPE_OPTIONS = frozenset(
    {"only", "nodes", "until", "push", "prune", "reconcile", "any_time"}
)
"""Parameters that say what is planned."""


def plan_options(function: F) -> F:
    """Which part of a plan is meant, and what it may do."""
    found = function
    for option in reversed(_OPTIONS):
        found = option(found)
    return found


admin = click.option(
    "--admin",
    metavar="USER@REALM",
    help="Grant access to Proxmox VE as this user; the password is asked for. Without it,"
    " $PROXMOX_VE_API_TOKEN, or $PROXMOX_VE_USERNAME and $PROXMOX_VE_PASSWORD, are used.",
)

max_parallel = click.option(
    "--max-parallel",
    type=click.IntRange(1, 100),
    default=MAX_PARALLEL,
    show_default=True,
    help="Steps side by side at most.",
)

_OPTIONS = (
    click.option(
        "--only",
        multiple=True,
        type=Choice(STAGES),
        help="Only this stage and what it needs; may be given again.",
    ),
    click.option(
        "--node",
        "nodes",
        multiple=True,
        metavar="NODE",
        shell_complete=complete_subjects,
        help="Only what is about this node, and what that needs; may be given again.",
    ),
    click.option(
        "--until",
        default="",
        metavar="STEP",
        shell_complete=complete_stages_and_steps,
        help="Stop after this step, or after all of this stage.",
    ),
    click.option(
        "--push", is_flag=True, help="Commit what was rendered, and push it, before Flux runs."
    ),
    click.option("--prune", is_flag=True, help="Also delete images that no node has any more."),
    click.option(
        "--reconcile", is_flag=True, help="Have Flux look at the repository now, and wait for it."
    ),
    click.option(
        "--any-time", is_flag=True, help="Restart machines outside of upgrade.windows, too."
    ),
    admin,
)


def plan_request(  # noqa: PLR0913 - one parameter per option
    only: tuple[str, ...],
    nodes: tuple[str, ...],
    until: str,
    *,
    push: bool,
    prune: bool,
    reconcile: bool,
    any_time: bool,
) -> PlanOptions:
    """What the options ask for."""
    from stockman.app.runs.plans import PlanOptions
    from stockman.steps.step import Stage

    return PlanOptions(
        only=tuple(Stage(one) for one in only),
        nodes=nodes,
        until=until,
        push=push,
        prune=prune,
        reconcile=reconcile,
        any_time=any_time,
    )


def reject_shape_options(ctx: click.Context, file: str) -> None:
    """`WrongUsage` where options ask for another plan than the one that a file holds."""
    from stockman.model.errors import WrongUsage

    given = click.core.ParameterSource.COMMANDLINE
    names = [
        one.opts[0]
        for one in ctx.command.params
        if one.name in _PLAN_SHAPE_OPTIONS and ctx.get_parameter_source(one.name) is given
    ]
    if names:
        raise WrongUsage(plan_file_conflict(file, names))


def plan_file_conflict(file: str, names: Sequence[str]) -> Problem:
    """The problem of options that come too late."""
    told = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return Problem(
        code="cli.already-planned",
        what=f"the plan in {file} is carried out as it is",
        why=f"{told} would make another plan of it",
        fix=f"make that plan: `stockman plan {names[0]} ... --out {file}`; or apply without {file}",
    )


def login(user: str | None) -> Login | None:
    """The administrator that was named, with the password that was asked for."""
    if user is None:
        return None
    from stockman.adapters.proxmox.credentials import Login
    from stockman.cli.terminal.screen import current_screen
    from stockman.model.errors import WrongUsage
    from stockman.model.secret import Secret

    screen = current_screen()
    if not screen.can_ask:
        raise WrongUsage(no_password(user))
    password = screen.prompt_hidden(f"password of {user}: ")
    return Login(user=user, password=Secret(password, resolved=True))


def no_password(user: str) -> Problem:
    """The problem of an administrator whose password nobody can be asked for."""
    return Problem(
        code="cli.no-password",
        what=f"there is no terminal to ask for the password of {user} on",
        why="passwords are never read from the command line",
        fix="set PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD, or PROXMOX_VE_API_TOKEN",
    )
