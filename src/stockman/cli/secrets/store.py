"""What commands on secret files share: the store of the directory, and words about keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_lines
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from stockman.app.secrets.batch import BatchResult
    from stockman.app.secrets.store import SecretStore
    from stockman.model.problem import Problem
    from stockman.model.version import Version
    from stockman.talos.secrets.bundle import SecretsBundle

_STYLES = {"changed": "good", "unchanged": "faint", "failed": "error"}
_LONGEST = 24


def open_store(ctx: click.Context, *, fix: bool = False) -> SecretStore:
    """The secret files of the directory, with every identity at hand; tells what is odd."""
    import os

    from stockman.adapters.system import SystemClock, SystemEntropy
    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets.store import SecretStore

    directory = options.directory(ctx)
    keyring = find_keyring(directory, os.environ, fix=fix)
    return SecretStore(directory, keyring, os.environ, SystemClock(), SystemEntropy())


def new_bundle(
    contract: Version, now: datetime, random_bytes: Callable[[int], bytes]
) -> SecretsBundle:
    """A new bundle; the user is told why it takes a while."""
    from stockman.talos.secrets.bundle import new_bundle

    current_screen().note("making the keys of the cluster: this takes a second or two")
    return new_bundle(contract, now, random_bytes)


def show_problems(problems: Iterable[Problem]) -> None:
    """Print problems to stderr."""
    found = list(problems)
    if found:
        screen = current_screen()
        screen.complain(problem_lines(found, paint=screen.notes_paint, width=screen.notes_width))


def show_results(round_: BatchResult, output: Output, *, dry_run: bool = False) -> int:
    """Print what became of each file of a round, and return the status of the command."""
    show(
        {"files": round_.files, "dryRun": dry_run},
        kind="SecretFiles",
        output=output,
        human=lambda _, screen: _result_lines(round_, screen),
        names=lambda _: (file.name for file in round_.files if file.state == "changed"),
    )
    show_problems(round_.problems)
    if not round_.files:
        current_screen().note("there are no secret files")
    if dry_run and round_.changed:
        current_screen().note("nothing was written: this was a dry run")
    if round_.problems.errors:
        done = any(file.state != "failed" for file in round_.files)
        return Exit.PARTLY if done else Exit.FAILED
    return Exit.CHANGES if dry_run and round_.changed else Exit.DONE


def _result_lines(round_: BatchResult, screen: Screen) -> Iterator[str]:
    rows = [
        (
            Cell(file.name, "name"),
            Cell(file.state, _STYLES[file.state]),
            ", ".join(
                (
                    *(f"+ {short_recipient(one)}" for one in file.added),
                    *(f"- {short_recipient(one)}" for one in file.removed),
                )
            ),
        )
        for file in round_.files
    ]
    if not rows:
        return iter(())
    headers = ("FILE", "STATE", "RECIPIENTS")
    return table(headers, rows, width=screen.width, paint=screen.paint)


def short_recipient(recipient: str) -> str:
    """A recipient as people tell it apart: post-quantum ones have 1,959 characters."""
    return recipient if len(recipient) <= _LONGEST else f"{recipient[:12]}...{recipient[-6:]}"
