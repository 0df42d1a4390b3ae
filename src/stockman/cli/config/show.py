"""`stockman config`: the configuration in full, and compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.group import group
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.config.origin_tree import ConfigDifference, OriginTree


@group(
    examples={
        "stockman config show --origin": "every value, and where it came from",
        "stockman config diff old new": "what differs in meaning between two directories",
    }
)
def config() -> None:
    """Show the configuration in full, or compare two."""


@command(
    name="show",
    examples={
        "stockman config show": "everything that should be, defaults included",
        "stockman config show --origin": "the same, and where each value came from",
        "stockman config show nodes.k8s-work-4.vm": "one part of it",
        "stockman config show cluster.network -o json": "one part for programs",
    },
)
@click.argument("path", required=False)
@click.option("--origin", is_flag=True, help="Show where each value came from.")
@options.output
@click.pass_context
def config_show(ctx: click.Context, path: str | None, origin: bool, output: Output) -> int:
    """Show what the configuration means, with every default applied.

    PATH names a part, such as cluster.network or nodes.NAME.vm. With --origin every value has
    its place: a line of a file, the class that brought it, what it was derived from, or default.
    Secrets are never shown.
    """
    from stockman.app.workspace.desired import show_desired as shown
    from stockman.config.origin_tree import strip_origins, with_origins

    tree = shown(options.directory(ctx), path)
    data = with_origins(tree) if origin else strip_origins(tree)
    show(
        data,
        kind="Desired",
        output=output,
        human=lambda _, screen: _lines(tree, screen, origin=origin),
    )
    return Exit.DONE


@command(
    name="diff",
    examples={
        "stockman config diff . ../other": "compare this directory with another",
        "stockman config diff main branch -o json": "the same for programs",
    },
)
@click.argument("before", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.output
def config_diff(before: Path, after: Path, output: Output) -> int:
    """Show what differs in meaning between the configurations of two directories.

    Order, comments, quotes, dialect and defaults written out make no difference. Exits with 0
    when both mean the same, with 2 when they do not.
    """
    from stockman.app.workspace.desired import compare_directories

    found = compare_directories(before, after)
    show(found, kind="Differences", output=output, human=difference_lines)
    if not found:
        current_screen().note("no difference")
    return Exit.CHANGES if found else Exit.DONE


def _lines(tree: OriginTree, screen: Screen, *, origin: bool) -> Iterator[str]:
    from stockman.config.origin_tree import TracedValue
    from stockman.config.writers.commented import Commented
    from stockman.config.writers.yaml_writer import render_yaml

    def noted(part: OriginTree) -> object:
        if isinstance(part, TracedValue):
            return Commented(value=part.value, beside=part.origin) if origin else part.value
        if isinstance(part, dict):
            return {key: noted(item) for key, item in part.items()}
        return [noted(item) for item in part]

    for line in render_yaml(noted(tree)).splitlines():
        text, mark, note = line.partition("  # ") if origin else (line, "", "")
        yield text + (screen.paint(f"{mark}{note}", "faint") if mark else "")


def difference_lines(found: tuple[ConfigDifference, ...], screen: Screen) -> Iterator[str]:
    """One line for every value that differs."""
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for one in found:
        values = {
            "added": f"{_text(one.after)}",
            "removed": f"{_text(one.before)}",
            "changed": f"{_text(one.before)} -> {_text(one.after)}",
        }
        yield f"{signs[one.kind]} {one.path}: {values[one.kind]}"


def _text(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)
