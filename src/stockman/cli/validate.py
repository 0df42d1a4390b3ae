"""`stockman validate`: check the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import current_screen
from stockman.cli.terminal.styles import count_noun

if TYPE_CHECKING:
    from pathlib import Path

    from stockman.app.workspace.validation import Validation


@command(
    examples={
        "stockman validate": "check the files of this directory",
        "stockman -C my-cluster validate": "check the files of another directory",
        "stockman validate --strict": "fail on warnings too, for CI",
        "stockman validate --secrets": "also check that all referenced secrets can be resolved",
        "stockman validate -o json": "print all problems as JSON, with positions",
    }
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option("--secrets", is_flag=True, help="Also resolve references to secrets.")
@options.output
@click.pass_context
def validate(ctx: click.Context, strict: bool, secrets: bool, output: Output) -> int:
    """Check the configuration and show all problems.

    Nothing is changed and no network connection is made. With --secrets, environment variables,
    files and encrypted values that the configuration refers to are read; their values are never
    shown. The exit status is 0 if there are no errors, 1 otherwise.
    """
    import os

    from stockman.app.rendering.validation import validate as validated

    validation = validated(options.directory(ctx), os.environ)
    if secrets and not validation.problems.errors:
        _follow(options.directory(ctx), validation)
    problems = list(validation.problems)
    failed = bool(problems if strict else validation.problems.errors)
    if output is not Output.TABLE:
        data = {
            "valid": not failed,
            "files": sorted(validation.texts),
            "nodes": len(validation.loaded.configuration.nodes),
            "guests": len(validation.loaded.configuration.guests),
            "unchecked": [origin.name for origin in validation.loaded.encrypted],
            "problems": [problem_data(problem) for problem in problems],
        }
        show(data, kind="Validation", output=output, human=lambda *_: ())
        return Exit.FAILED if failed else Exit.DONE
    show_problems(problems, validation.texts, redact=validation.redact, summary=True)
    if not failed:
        estate = validation.loaded.configuration
        files = " and ".join(sorted(validation.loaded.texts))
        counts = (
            count_noun(len(estate.nodes), "node"),
            count_noun(len(estate.guests), "guest"),
            count_noun(len(estate.hosts), "host"),
        )
        current_screen().data(f"{files}: valid ({', '.join(counts)})")
    return Exit.FAILED if failed else Exit.DONE


def _follow(directory: Path, validation: Validation) -> None:
    """Add the problems of secrets that cannot be resolved."""
    import os

    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets.references import ReferenceContext, resolve_secrets
    from stockman.config.resolve import resolve

    keyring = find_keyring(directory, os.environ)
    sources = ReferenceContext(directory=directory, keyring=keyring, environment=os.environ)
    validation.problems.extend(resolve_secrets(resolve(validation.loaded), sources).problems)
    validation.problems.extend(keyring.problems)
