"""`stockman config`: show and compare configurations."""

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
        "stockman config show --origin": "show every value and where it comes from",
        "stockman config diff old new": "compare the configurations of two directories",
    }
)
def config() -> None:
    """Show, compare, check and export the configuration."""


@command(
    name="show",
    examples={
        "stockman config show": "show the whole configuration, including defaults",
        "stockman config show --origin": "also show where each value comes from",
        "stockman config show nodes.k8s-work-4.vm": "show one section",
        "stockman config show cluster.network -o json": "print one section as JSON",
    },
)
@click.argument("path", required=False)
@click.option("--origin", is_flag=True, help="Show where each value comes from.")
@options.output
@click.pass_context
def config_show(ctx: click.Context, path: str | None, origin: bool, output: Output) -> int:
    """Show the configuration with all defaults applied.

    PATH selects a section, such as cluster.network or nodes.NAME.vm. With --origin, each value is
    followed by its source: a line of a file, the class that set it, what it was derived from, or
    default. Secrets are never shown.
    """
    from stockman.app.workspace.validation import show_desired as shown
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
        "stockman config diff . ../other": "compare this directory with another one",
        "stockman config diff main branch -o json": "print them as JSON",
    },
)
@click.argument("before", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options.output
def config_diff(before: Path, after: Path, output: Output) -> int:
    """Compare the configurations of two directories.

    Order, comments, quoting, dialect and explicit defaults are ignored. The exit status is 0 if
    both configurations are equivalent, 2 if they differ.
    """
    from stockman.app.workspace.validation import compare_directories

    differences = compare_directories(before, after)
    show(differences, kind="Differences", output=output, human=difference_lines)
    if not differences:
        current_screen().note("No differences.")
    return Exit.CHANGES if differences else Exit.DONE


def _lines(tree: OriginTree, screen: Screen, *, origin: bool) -> Iterator[str]:
    from stockman.config.origin_tree import TracedValue
    from stockman.config.writers.yaml_writer import Commented, render_yaml

    def with_origin(node: OriginTree) -> object:
        if isinstance(node, TracedValue):
            return Commented(value=node.value, beside=node.origin) if origin else node.value
        if isinstance(node, dict):
            return {key: with_origin(item) for key, item in node.items()}
        return [with_origin(item) for item in node]

    for line in render_yaml(with_origin(tree)).splitlines():
        text, mark, note = line.partition("  # ") if origin else (line, "", "")
        yield text + (screen.paint(f"{mark}{note}", "faint") if mark else "")


def difference_lines(differences: tuple[ConfigDifference, ...], screen: Screen) -> Iterator[str]:
    """Return a line for each value that differs."""
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for difference in differences:
        values = {
            "added": f"{_text(difference.after)}",
            "removed": f"{_text(difference.before)}",
            "changed": f"{_text(difference.before)} -> {_text(difference.after)}",
        }
        yield f"{signs[difference.kind]} {difference.path}: {values[difference.kind]}"


def _text(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)
