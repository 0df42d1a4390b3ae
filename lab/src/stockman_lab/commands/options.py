"""Options that the commands of the lab share."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stockman.cli import options

if TYPE_CHECKING:
    from stockman_lab.commands.runtime.directories import LabFiles

F = TypeVar("F", bound=Callable[..., Any])


def state(function: F) -> F:
    """`--state`: which lab is meant."""
    return click.option(
        "--state",
        metavar="FILE",
        default=None,
        help="File that holds the lab. Default: .stockman/lab.state.",
    )(function)


def places(ctx: click.Context, text: str | None) -> LabFiles:
    """The files of the lab that is meant."""
    from stockman_lab.commands.runtime.directories import DEFAULT, LabFiles

    return LabFiles(state=options.directory(ctx) / (text or DEFAULT))


def named(text: str | None) -> str:
    """The option as it is typed again; empty where the usual lab is meant."""
    return f" --state {shlex.quote(text)}" if text is not None else ""
