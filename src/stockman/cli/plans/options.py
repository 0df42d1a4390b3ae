"""Options of commands that make plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stockman.cli.completion import complete_stages_and_steps, complete_subjects
from stockman.cli.options import Choice
from stockman.model.parallelism import MAX_PARALLEL
from stockman.model.pattern import pattern
from stockman.model.problem import Problem

if TYPE_CHECKING:
    from stockman.adapters.proxmox.credentials import Login
    from stockman.app.runs.plans import PlanOptions

F = TypeVar("F", bound=Callable[..., Any])
STAGES = ("access", "images", "vms", "talos", "kubernetes")
_PLAN_SHAPE_OPTIONS = frozenset(
    {
        *("only", "nodes", "until", "push", "message", "branch"),
        *("prune", "reconcile", "any_time", "first_config"),
    }
)
"""Parameters that select what is planned."""


_FINGERPRINT_BYTES = 32


def plan_options(function: F) -> F:
    """Add the options that select a part of a plan and what it may do."""
    decorated = function
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


admin = click.option(
    "--admin",
    metavar="USER@REALM",
    help="Log in to Proxmox VE as this user to grant access, with a password prompt; "
    "defaults to $PROXMOX_VE_API_TOKEN, or $PROXMOX_VE_USERNAME and "
    "$PROXMOX_VE_PASSWORD. $PROXMOX_VE_ENDPOINT must name the Proxmox VE that gets them.",
)

allow_destroy = click.option(
    "--allow-destroy",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_subjects,
    help="Confirm that this guest may be destroyed; can be repeated.",
)

max_parallel = click.option(
    "--max-parallel",
    type=click.IntRange(1, 100),
    default=MAX_PARALLEL,
    show_default=True,
    help="Maximum number of parallel steps.",
)

_OPTIONS = (
    click.option(
        "--only",
        multiple=True,
        type=Choice(STAGES),
        help="Plan only this stage and its dependencies; can be repeated.",
    ),
    click.option(
        "--node",
        "nodes",
        multiple=True,
        metavar="NODE",
        shell_complete=complete_subjects,
        help="Plan only changes of this node and their dependencies; can be repeated.",
    ),
    click.option(
        "--until",
        default="",
        metavar="STEP",
        shell_complete=complete_stages_and_steps,
        help="Stop after this step, or after all steps of this stage.",
    ),
    click.option(
        "--push", is_flag=True, help="Commit and push rendered files before Flux is reconciled."
    ),
    click.option("--message", default="", metavar="TEXT", help="With --push: commit message."),
    click.option(
        "--branch",
        default="",
        metavar="NAME",
        help="With --push: push to this branch, for a pull request.",
    ),
    click.option("--prune", is_flag=True, help="Also delete images that no node uses."),
    click.option("--reconcile", is_flag=True, help="Reconcile Flux immediately, and wait for it."),
    click.option(
        "--any-time", is_flag=True, help="Also restart machines outside of upgrade.windows."
    ),
    click.option(
        "--first-config",
        multiple=True,
        metavar="NODE=FINGERPRINT",
        help="Configure this machine, which shows this fingerprint on its console; can be "
        "repeated.",
    ),
    admin,
)


def plan_request(  # noqa: PLR0913 - one parameter per option
    only: tuple[str, ...],
    nodes: tuple[str, ...],
    until: str,
    *,
    push: bool,
    message: str,
    branch: str,
    prune: bool,
    reconcile: bool,
    any_time: bool,
    first_config: tuple[str, ...] = (),
) -> PlanOptions:
    """Return the plan request of the options."""
    from stockman.app.runs.plans import PlanOptions
    from stockman.model.errors import WrongUsage
    from stockman.steps.step import Stage

    if (message or branch) and not push:
        raise WrongUsage(push_options_without_push("--message" if message else "--branch"))
    if branch and (_BRANCH.fullmatch(branch) is None or ".." in branch):
        raise WrongUsage(invalid_branch(branch))
    return PlanOptions(
        only=tuple(Stage(stage) for stage in only),
        nodes=nodes,
        until=until,
        push=push,
        push_message=message,
        pull_request=branch,
        prune=prune,
        reconcile=reconcile,
        any_time=any_time,
        first_config=dict(map(parse_first_config, first_config)),
    )


def parse_first_config(text: str) -> tuple[str, str]:
    """Return node and fingerprint of `NODE=FINGERPRINT`; raises `WrongUsage`."""
    from base64 import b64decode
    from binascii import Error

    from stockman.model.errors import WrongUsage

    node, _, fingerprint = text.partition("=")
    try:
        is_valid = len(b64decode(fingerprint, validate=True)) == _FINGERPRINT_BYTES
    except (Error, ValueError):
        is_valid = False
    if not node or not is_valid:
        raise WrongUsage(invalid_first_config(text))
    return node, fingerprint


def invalid_first_config(text: str) -> Problem:
    """Return the problem of an invalid value of --first-config."""
    return Problem(
        code="cli.first-config",
        what=f"--first-config {text} is not NODE=FINGERPRINT",
        why="a fingerprint is the SHA-256 digest of a public key in base64, of 44 characters",
        fix="copy the fingerprint that the console of the machine shows in maintenance mode",
    )


_BRANCH = pattern(r"[A-Za-z0-9_](?:[A-Za-z0-9._/-]*[A-Za-z0-9_])?")


def push_options_without_push(option: str) -> Problem:
    """Return the problem of an option that only `--push` uses."""
    return Problem(
        code="cli.without-push",
        what=f"{option} has no effect without --push",
        why="nothing is committed",
        fix=f"add --push, or leave {option} out",
    )


def invalid_branch(branch: str) -> Problem:
    """Return the problem of a branch with an invalid name."""
    return Problem(
        code="cli.branch",
        what=f"{branch!r} is not a valid name of a branch",
        why="letters, digits, `.`, `_`, `/` and `-` are allowed; it starts and ends with a letter,"
        " a digit or `_`, and has no `..`",
        fix="choose another name: `--branch update-cluster`",
    )


def reject_shape_options(ctx: click.Context, file: str) -> None:
    """Raise `WrongUsage` for options that would change a saved plan."""
    from stockman.model.errors import WrongUsage

    command_line = click.core.ParameterSource.COMMANDLINE
    names = [
        param.opts[0]
        for param in ctx.command.params
        if param.name in _PLAN_SHAPE_OPTIONS
        and ctx.get_parameter_source(param.name) is command_line
    ]
    if names:
        raise WrongUsage(plan_file_conflict(file, names))


def plan_file_conflict(file: str, names: Sequence[str]) -> Problem:
    """Return the problem of options that would change a saved plan."""
    names_text = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return Problem(
        code="cli.already-planned",
        what=f"the saved plan {file} cannot be changed",
        why=f"{names_text} would change it",
        fix=(
            f"make a new plan: `stockman plan {names[0]} ... --out {file}`, or apply without {file}"
        ),
    )


def login(user: str | None) -> Login | None:
    """Return the administrator's login; prompts for the password."""
    if user is None:
        return None
    from stockman.adapters.proxmox.credentials import Login
    from stockman.cli.terminal.screen import current_screen
    from stockman.model.errors import WrongUsage
    from stockman.model.secret import Secret

    screen = current_screen()
    if not screen.can_prompt:
        raise WrongUsage(no_password(user))
    password = screen.prompt_hidden(f"Password of {user}: ")
    return Login(user=user, password=Secret(password, resolved=True))


def no_password(user: str) -> Problem:
    """Return the problem of a password that cannot be prompted for."""
    return Problem(
        code="cli.no-password",
        what=f"the password of {user} cannot be entered without a terminal",
        why="passwords are not accepted on the command line",
        fix="set PROXMOX_VE_ENDPOINT, and PROXMOX_VE_USERNAME and PROXMOX_VE_PASSWORD, or"
        " PROXMOX_VE_API_TOKEN",
    )
