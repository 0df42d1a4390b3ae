"""`stockman validate`: all mistakes of the configuration at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines, problem_summary
from stockman.cli.terminal.screen import current_screen

if TYPE_CHECKING:
    from pathlib import Path

    from stockman.app.workspace.validation import Validation


@command(
    examples={
        "stockman validate": "check the files of this directory",
        "stockman -C my-cluster validate": "check the files of another directory",
        "stockman validate --strict": "fail on warnings too, for CI",
        "stockman validate --secrets": "see whether every secret that is named can be had",
        "stockman validate -o json": "get every problem with file, line and column",
    }
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option("--secrets", is_flag=True, help="Follow every reference to a secret too.")
@options.output
@click.pass_context
def validate(ctx: click.Context, strict: bool, secrets: bool, output: Output) -> int:
    """Check the configuration and show all mistakes at once.

    Nothing is asked over the network, no secret is resolved and nothing is changed. With --secrets
    variables, files and encrypted values that the configuration takes secrets from are looked up
    and opened; what they hold is never shown. Exits with 0 when there are no errors, with 1
    otherwise.
    """
    from stockman.app.workspace.validation import validate as validated

    screen = current_screen()
    found = validated(options.directory(ctx))
    if secrets and not found.problems.errors:
        _follow(options.directory(ctx), found)
    problems = list(found.problems)
    failed = bool(problems if strict else found.problems.errors)
    if output is not Output.TABLE:
        data = {
            "valid": not failed,
            "files": sorted(found.texts),
            "nodes": len(found.loaded.estate.nodes),
            "guests": len(found.loaded.estate.guests),
            "unchecked": [origin.name for origin in found.loaded.opaque],
            "problems": [problem_data(problem) for problem in problems],
        }
        show(data, kind="Validation", output=output, human=lambda *_: ())
        return Exit.FAILED if failed else Exit.DONE
    if problems:
        screen.complain(
            problem_lines(
                problems,
                found.texts,
                redact=found.redact,
                paint=screen.notes_paint,
                width=screen.notes_width,
            )
        )
        screen.complain(["", problem_summary(problems)])
    if not failed:
        estate = found.loaded.estate
        files = " and ".join(sorted(found.loaded.texts))
        counts = (
            _count(len(estate.nodes), "node"),
            _count(len(estate.guests), "guest"),
            _count(len(estate.hosts), "host"),
        )
        screen.data(f"{files}: valid ({', '.join(counts)})")
    return Exit.FAILED if failed else Exit.DONE


def _follow(directory: Path, found: Validation) -> None:
    """Add what keeps secrets from being resolved to the problems."""
    import os

    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets.references import ReferenceContext, resolve_secrets
    from stockman.config.resolve import resolve

    keyring = find_keyring(directory, os.environ)
    around = ReferenceContext(directory=directory, keyring=keyring, environment=os.environ)
    found.problems.extend(resolve_secrets(resolve(found.loaded), around).problems)
    found.problems.extend(keyring.problems)


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
