"""`stockman config show`, `diff` and `migrate`: show, compare and migrate configurations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.group import group
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.machine_config.migration import MigrationPlan, ShownEdit
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
    from stockman.app.workspace.desired_tree import show_desired as shown
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
    from stockman.app.workspace.desired_tree import compare_directories

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


@command(
    name="migrate",
    examples={
        "stockman config migrate --to 1.14": "show what changes in the files of this directory",
        "stockman config migrate --to 1.14 node.yaml": "show the edits of a machine configuration",
        "stockman config migrate --to 1.14 node.yaml --write": "write node.1.14.yaml",
    },
)
@click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--to", "target", required=True, metavar="CONTRACT", help="Talos contract to migrate to."
)
@click.option("--write", is_flag=True, help="Write the result to FILE.CONTRACT.yaml.")
@click.option(
    "--new-defaults", is_flag=True, help="Also adopt the new defaults of the newer contract."
)
@click.option("--keep-oidc", is_flag=True, help="Keep OIDC settings as API server arguments.")
@options.output
def config_migrate(file: Path | None, target: str, output: Output, **choices: bool) -> int:
    """Show what a newer Talos contract changes.

    FILE is a machine configuration: every edit that migrates it is listed, together with settings
    that have no replacement and stay. Without FILE, the configuration of this directory is checked:
    its contract key and its patches that use the older style. Secrets are never shown. The exit
    status is 0 if nothing changes, 2 otherwise.
    """
    from stockman.app.machine_config import migration
    from stockman.talos.migration.migrate import MigrationOptions

    write = choices.pop("write")
    if file is None:
        if write or any(choices.values()):
            raise click.UsageError("--write, --new-defaults and --keep-oidc need a FILE")
        plan = migration.migrate_directory(options.directory(click.get_current_context()), target)
    else:
        plan, migrated = migration.migrate_file(file, target, MigrationOptions(**choices))
    screen = current_screen()
    show_problems(plan.problems)
    data = {
        "source": plan.source,
        "target": plan.target,
        "parts": plan.parts,
        "problems": [problem_data(problem) for problem in plan.problems],
    }
    show(
        data,
        kind="Migration",
        output=output,
        human=lambda _, screen: _migration_lines(plan, screen),
    )
    if not plan.changes:
        screen.note(f"No changes for contract {plan.target}.")
        return Exit.DONE
    if file is not None and write:
        from stockman.adapters.system import SystemEntropy

        screen.note(f"Wrote {migration.write_migration(file, migrated, SystemEntropy())}")
        return Exit.DONE
    return Exit.CHANGES


def _migration_lines(plan: MigrationPlan, screen: Screen) -> Iterator[str]:
    for number, location in enumerate(location for location in plan.parts if location.edits):
        if number:
            yield ""
        yield screen.paint(location.label, "name")
        reason = ""
        for edit in location.edits:
            if edit.reason != reason:
                reason = edit.reason
                yield f"  {reason} ({edit.since})"
            yield from (f"    {line}" for line in _edit(edit))
        if location.new_text:
            yield "  patch after migration:"
            yield from (f"    {line}" for line in location.new_text.splitlines())


def _edit(edit: ShownEdit) -> Iterator[str]:
    name = f"{edit.document} {edit.path}".rstrip()
    where = f"  ({edit.where})" if edit.where else ""
    if edit.before is not None:
        yield f"- {name}{_inline(edit.before)}{where}"
        yield from _block(edit.before)
    if edit.after is not None:
        yield f"+ {name}{_inline(edit.after)}"
        yield from _block(edit.after)


def _inline(value: object) -> str:
    return ":" if isinstance(value, dict | list) and value else f": {_text(value)}"


def _block(value: object) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        from stockman.config.writers.yaml_writer import render_yaml

        shown = value
        if isinstance(value, dict):
            shown = {key: item for key, item in value.items() if key not in ("apiVersion", "kind")}
        if shown:
            yield from (f"    {line}" for line in render_yaml(shown).splitlines())
