"""Options and words that client configurations share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stockman.cli.secrets.store import show_problems
from stockman.cli.terminal.screen import Screen

if TYPE_CHECKING:
    from stockman.app.client_config.files import ClientFile, ClientFileContext
from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import current_screen
from stockman.talos.credentials.roles import TalosRole

F = TypeVar("F", bound=Callable[..., Any])

_PART = re.compile(r"(\d+)([dhms])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_SHORTEST = timedelta(minutes=1)
_LONGEST = timedelta(days=36_500)
_RESULTS = {
    "written": "wrote {file}",
    "renewed": "renewed {file}",
    "updated": "updated {file}, with the certificate that it had",
    "unchanged": "{file} is up to date",
}


class LongDuration(click.ParamType[timedelta]):
    """A length of time as Go writes it, and days: `8760h`, `30d`, `1h30m`."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        parts = _PART.findall(value)
        if not parts or "".join(number + unit for number, unit in parts) != value:
            self.fail(f"{value!r} is no length of time, such as 8760h or 30d", param, ctx)
        seconds = sum(
            int(number) * timedelta(**{_UNITS[unit]: 1}).total_seconds() for number, unit in parts
        )
        if not _SHORTEST.total_seconds() <= seconds <= _LONGEST.total_seconds():
            self.fail(f"{value!r} is not between one minute and a hundred years", param, ctx)
        return timedelta(seconds=seconds)


ttl_option = click.option(
    "--ttl",
    type=LongDuration(),
    default="8760h",
    show_default=True,
    help="How long a new certificate holds; never longer than its authority.",
)
renew_option = click.option("--renew", is_flag=True, help="Make a new certificate in any case.")
stdout_option = click.option(
    "--stdout", "to_stdout", is_flag=True, help="Print a new file with its key; write none."
)


def merge_option(help_text: str) -> Callable[[F], F]:
    """`--merge` into another file than that of the workspace."""
    return click.option(
        "--merge",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=help_text,
    )


def client_store(directory: Path) -> ClientFileContext:
    """The system as client configurations need it."""
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


def reject_stdout_conflicts(to_stdout: bool, **others: object) -> None:
    """Refuse options that make no sense beside `--stdout`."""
    given = [f"--{name}" for name, value in others.items() if value]
    if to_stdout and given:
        raise click.UsageError(f"--stdout writes no file, so there is no use for {given[0]}")


def client_lines(done: ClientFile, screen: Screen) -> Iterator[str]:
    """What became of a file, for people."""
    yield screen.paint(_RESULTS[done.state].format(file=done.file), "good")
    yield f"  context: {done.context}"
    yield f"  roles:   {', '.join(done.roles)}"
    yield f"  ends:    {done.ends:%Y-%m-%d %H:%M} UTC, in {done.days_left} days"
    if done.closed:
        yield "  mode:    0600 now; others could read it before"


@command(
    name="talosconfig",
    examples={
        "stockman config talosconfig": "write the file, or renew it when it is due",
        "stockman config talosconfig --merge ~/.talos/config": "add the cluster to your own file",
        "stockman config talosconfig --role os:reader --ttl 24h --stdout": (
            "print one for somebody who may only look"
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
    help="What its owner may do; can be given several times.",
)
@ttl_option
@click.option(
    "--nodes",
    "targets",
    type=options.Choice(("all", "controllers", "none")),
    default="all",
    show_default=True,
    help="Nodes that commands act on which name none.",
)
@merge_option("Add the context to this file, under another name if its own is taken.")
@renew_option
@stdout_option
@options.output
@click.pass_context
def config_talosconfig(
    ctx: click.Context, /, output: Output, to_stdout: bool, **wished: Any
) -> int:
    """Write the talosconfig of the cluster, or renew it.

    The client certificate is made with the Talos authority of the secrets bundle; endpoints are
    the controllers. A file that is up to date stays as it is until less than 30 days are left.
    Other contexts of the file are kept. It is written with mode 0600, and nowhere that git would
    take it from. Nothing secret is printed, unless --stdout asks for it.
    """
    from stockman.app.client_config.talosconfig import (
        TalosconfigOptions,
        new_talosconfig,
        write_talosconfig,
    )

    reject_stdout_conflicts(to_stdout, merge=wished["merge"], renew=wished["renew"])
    directory = options.directory(ctx)
    wish = TalosconfigOptions(
        directory=directory,
        roles=tuple(wished["roles"]),
        lifetime=wished["ttl"],
        targets=wished["targets"],
        merge=wished["merge"],
        renew=wished["renew"],
    )
    system = client_store(directory)
    if to_stdout:
        current_screen().data(new_talosconfig(wish, system).reveal().removesuffix("\n"))
        return Exit.DONE
    done = write_talosconfig(wish, system)
    show(done, kind="ClientConfiguration", output=output, human=client_lines)
    return Exit.DONE


@command(
    name="kubeconfig",
    examples={
        "stockman config kubeconfig": "write the file, or renew it when it is due",
        "stockman config kubeconfig --merge ~/.kube/config": "add the cluster to your own file",
        "stockman config kubeconfig --ttl 8h --stdout": "print one that holds for a day of work",
    },
)
@ttl_option
@merge_option("Add cluster, user and context to this file, under free names.")
@renew_option
@stdout_option
@options.output
@click.pass_context
def config_kubeconfig(ctx: click.Context, /, output: Output, to_stdout: bool, **wished: Any) -> int:
    """Write the administrator's kubeconfig of the cluster, or renew it.

    The client certificate is made with the Kubernetes authority of the secrets bundle, as Talos
    itself makes it; no machine is asked. A file that is up to date stays as it is until less than
    30 days are left. Other contexts of the file are kept. It is written with mode 0600, and
    nowhere that git would take it from. Nothing secret is printed, unless --stdout asks for it.
    """
    from stockman.app.client_config.kubeconfig import (
        KubeconfigOptions,
        new_kubeconfig,
        write_kubeconfig,
    )

    reject_stdout_conflicts(to_stdout, merge=wished["merge"], renew=wished["renew"])
    directory = options.directory(ctx)
    wish = KubeconfigOptions(
        directory=directory,
        lifetime=wished["ttl"],
        merge=wished["merge"],
        renew=wished["renew"],
    )
    system = client_store(directory)
    if to_stdout:
        current_screen().data(new_kubeconfig(wish, system).reveal().removesuffix("\n"))
        return Exit.DONE
    done = write_kubeconfig(wish, system)
    show(done, kind="ClientConfiguration", output=output, human=client_lines)
    return Exit.DONE
