"""Options and words that client configurations share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stockman.cli.screen import Screen
from stockman.cli.secret_work import warn

if TYPE_CHECKING:
    from stockman.app.client_files import ClientFile, Doors

F = TypeVar("F", bound=Callable[..., Any])

_PART = re.compile(r"(\d+)([dhms])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_SHORTEST = timedelta(minutes=1)
_LONGEST = timedelta(days=36_500)
_DONE = {
    "written": "wrote {file}",
    "renewed": "renewed {file}",
    "updated": "updated {file}, with the certificate that it had",
    "unchanged": "{file} is up to date",
}


class Duration(click.ParamType[timedelta]):
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


ttl = click.option(
    "--ttl",
    type=Duration(),
    default="8760h",
    show_default=True,
    help="How long a new certificate holds; never longer than its authority.",
)
renew = click.option("--renew", is_flag=True, help="Make a new certificate in any case.")
to_stdout = click.option(
    "--stdout", "to_stdout", is_flag=True, help="Print a new file with its key; write none."
)


def merge(help_text: str) -> Callable[[F], F]:
    """`--merge` into another file than that of the workspace."""
    return click.option(
        "--merge",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=help_text,
    )


def doors(directory: Path) -> Doors:
    """The system as client configurations need it."""
    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.client_files import Doors
    from stockman.app.keyring import find_keyring

    keyring = find_keyring(directory, os.environ)
    warn(keyring.problems)
    return Doors(
        clock=SystemClock(),
        entropy=SystemEntropy(),
        keyring=keyring,
        environment=os.environ,
    )


def refuse_together(to_stdout: bool, **others: object) -> None:
    """Refuse options that make no sense beside `--stdout`."""
    given = [f"--{name}" for name, value in others.items() if value]
    if to_stdout and given:
        raise click.UsageError(f"--stdout writes no file, so there is no use for {given[0]}")


def client_lines(done: ClientFile, screen: Screen) -> Iterator[str]:
    """What became of a file, for people."""
    yield screen.paint(_DONE[done.state].format(file=done.file), "good")
    yield f"  context: {done.context}"
    yield f"  roles:   {', '.join(done.roles)}"
    yield f"  ends:    {done.ends:%Y-%m-%d %H:%M} UTC, in {done.days_left} days"
    if done.closed:
        yield "  mode:    0600 now; others could read it before"
