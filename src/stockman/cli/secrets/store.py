"""Functions that the commands on secret files share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from stockman.app.secrets.store import SecretStore
    from stockman.app.secrets.values import BatchResult
    from stockman.model.version import Version
    from stockman.talos.secrets.bundle import SecretsBundle

_STYLES = {"changed": "good", "unchanged": "faint", "failed": "error"}
_LONGEST = 24


def open_store(ctx: click.Context, *, fix: bool = False) -> SecretStore:
    """Open the secret files of the directory with all available identities; prints warnings."""
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
    """Create a new secrets bundle; prints a note because it takes a moment."""
    from stockman.talos.secrets.bundle import new_bundle

    current_screen().note("Generating the keys of the cluster; this takes a few seconds.")
    return new_bundle(contract, now, random_bytes)


def show_results(round_: BatchResult, output: Output, *, dry_run: bool = False) -> int:
    """Print the result for each file, and return the exit status."""
    show(
        {"files": round_.files, "dryRun": dry_run},
        kind="SecretFiles",
        output=output,
        human=lambda _, screen: _result_lines(round_, screen),
        names=lambda _: (file.name for file in round_.files if file.state == "changed"),
    )
    show_problems(round_.problems)
    if not round_.files:
        current_screen().note("There are no secret files.")
    if dry_run and round_.changed:
        current_screen().note("Dry run: nothing was written.")
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
                    *(f"+ {short_recipient(recipient)}" for recipient in file.added),
                    *(f"- {short_recipient(recipient)}" for recipient in file.removed),
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
    """Return a short form of a recipient; post-quantum ones have 1,959 characters."""
    return recipient if len(recipient) <= _LONGEST else f"{recipient[:12]}...{recipient[-6:]}"
