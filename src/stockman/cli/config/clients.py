"""`stockman config talosconfig` and `kubeconfig`: write client configurations."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.model.secret import Secret
from stockman.talos.credentials.roles import TalosRole

if TYPE_CHECKING:
    from stockman.app.client_config.files import ClientFile, ClientFileContext, ClientFileOptions

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R", bound="ClientFileOptions")

_PART = re.compile(r"(\d+)([dhms])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_SHORTEST = timedelta(minutes=1)
_LONGEST = timedelta(days=36_500)
_RESULTS = {
    "written": "Wrote {file}",
    "renewed": "Renewed {file}",
    "updated": "Updated {file}, keeping its certificate",
    "unchanged": "{file} is up to date",
}


class LongDuration(click.ParamType[timedelta]):
    """A duration in Go notation, with days: `8760h`, `30d`, `1h30m`."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        matches = _PART.findall(value)
        if not matches or "".join(number + unit for number, unit in matches) != value:
            self.fail(f"{value!r} is not a duration such as 8760h or 30d", param, ctx)
        seconds = sum(
            int(number) * timedelta(**{_UNITS[unit]: 1}).total_seconds() for number, unit in matches
        )
        if not _SHORTEST.total_seconds() <= seconds <= _LONGEST.total_seconds():
            self.fail(f"{value!r} is not between one minute and 100 years", param, ctx)
        return timedelta(seconds=seconds)


ttl_option = click.option(
    "--ttl",
    type=LongDuration(),
    default="8760h",
    show_default=True,
    help="Lifetime of a new certificate; limited by that of its CA.",
)
renew_option = click.option(
    "--renew", is_flag=True, help="Create a new certificate even if the current one is still valid."
)
stdout_option = click.option(
    "--stdout",
    "to_stdout",
    is_flag=True,
    help="Print the file, including its private key, instead of writing it.",
)


def merge_option(help_text: str) -> Callable[[F], F]:
    """`--merge` into a file outside of the workspace."""
    return click.option(
        "--merge",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=help_text,
    )


def client_store(directory: Path) -> ClientFileContext:
    """Return the clock, randomness, keys and environment that client configurations need."""
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.client_config.files import ClientFileContext
    from stockman.app.secrets.keyring import find_keyring

    keyring = find_keyring(directory, os.environ)
    show_problems(keyring.problems)
    return ClientFileContext(
        clock=SystemClock(),
        entropy=SystemEntropy(),
        keyring=keyring,
        environment=os.environ,
    )


def _write(
    request: R, execute: Callable[[R, ClientFileContext], ClientFile | Secret], output: Output
) -> int:
    """Write the file and print the result; a function that returns its text only prints that."""
    result = execute(request, client_store(request.directory))
    if isinstance(result, Secret):
        current_screen().data(result.reveal().removesuffix("\n"))
    else:
        show(result, kind="ClientConfiguration", output=output, human=client_lines)
    return Exit.DONE


def _check_conflicts(to_stdout: bool, merge: Path | None, renew: bool) -> None:
    """Refuse options that conflict with `--stdout`."""
    if to_stdout and (merge is not None or renew):
        conflict = "--renew" if merge is None else "--merge"
        raise click.UsageError(
            f"--stdout does not write a file, so it cannot be combined with {conflict}"
        )


def client_lines(done: ClientFile, screen: Screen) -> Iterator[str]:
    """Describe the written file as text."""
    yield screen.paint(_RESULTS[done.state].format(file=done.file), "good")
    yield f"  context: {done.context}"
    yield f"  roles:   {', '.join(done.roles)}"
    yield f"  expires: {done.ends:%Y-%m-%d %H:%M} UTC, in {done.days_left} days"
    if done.mode_restricted:
        yield "  mode:    changed to 0600; other users were able to read the file"


@command(
    name="talosconfig",
    examples={
        "stockman config talosconfig": "write the file, or renew it if it expires soon",
        "stockman config talosconfig --merge ~/.talos/config": (
            "add the cluster to your own talosconfig"
        ),
        "stockman config talosconfig --role os:reader --ttl 24h --stdout": (
            "print a talosconfig for somebody with read access"
        ),
    },
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=options.Choice(TalosRole),
    default=(TalosRole.ADMIN.value,),
    show_default=True,
    help="Role of the client certificate; can be repeated.",
)
@ttl_option
@click.option(
    "--nodes",
    "targets",
    type=options.Choice(("all", "controllers", "none")),
    default="all",
    show_default=True,
    help="Default target nodes.",
)
@merge_option("Add the context to this file, renamed if the name is in use.")
@renew_option
@stdout_option
@options.output
@click.pass_context
def config_talosconfig(
    ctx: click.Context, /, output: Output, to_stdout: bool, **values: Any
) -> int:
    """Write or renew the talosconfig.

    The client certificate is signed locally with the Talos CA of the secrets bundle; the endpoints
    are the controllers. A file is renewed when its certificate expires in less than 30 days. Other
    contexts in the file are kept. The file has mode 0600 and is refused at paths that git would
    commit. Secrets are only printed with --stdout.
    """
    from stockman.app.client_config.talosconfig import (
        TalosconfigOptions,
        new_talosconfig,
        write_talosconfig,
    )

    _check_conflicts(to_stdout, values["merge"], values["renew"])
    request = TalosconfigOptions(
        directory=options.directory(ctx),
        roles=tuple(values["roles"]),
        lifetime=values["ttl"],
        targets=values["targets"],
        merge=values["merge"],
        renew=values["renew"],
    )
    return _write(request, new_talosconfig if to_stdout else write_talosconfig, output)


@command(
    name="kubeconfig",
    examples={
        "stockman config kubeconfig": "write the file, or renew it if it expires soon",
        "stockman config kubeconfig --merge ~/.kube/config": (
            "add the cluster to your own kubeconfig"
        ),
        "stockman config kubeconfig --ttl 8h --stdout": (
            "print a kubeconfig that is valid for 8 hours"
        ),
    },
)
@ttl_option
@merge_option("Add cluster, user and context to this file; names in use get a suffix.")
@renew_option
@stdout_option
@options.output
@click.pass_context
def config_kubeconfig(ctx: click.Context, /, output: Output, to_stdout: bool, **values: Any) -> int:
    """Write or renew the administrator's kubeconfig.

    The client certificate is signed locally with the Kubernetes CA of the secrets bundle; no
    machine is contacted. A file is renewed when its certificate expires in less than 30 days. Other
    contexts in the file are kept. The file has mode 0600 and is refused at paths that git would
    commit. Secrets are only printed with --stdout.
    """
    from stockman.app.client_config.files import ClientFileOptions
    from stockman.app.client_config.kubeconfig import new_kubeconfig, write_kubeconfig

    _check_conflicts(to_stdout, values["merge"], values["renew"])
    request = ClientFileOptions(
        directory=options.directory(ctx),
        lifetime=values["ttl"],
        merge=values["merge"],
        renew=values["renew"],
    )
    return _write(request, new_kubeconfig if to_stdout else write_kubeconfig, output)
