"""`stockman config migrate`: show what a newer Talos contract changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_data, problem_lines
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.machine_config.migration import MigrationPlan, ShownEdit


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
    if plan.problems:
        screen.print_problems(problem_lines(plan.problems, paint=screen.notes_paint))
    data = {
        "source": plan.source,
        "target": plan.target,
        "parts": plan.parts,
        "problems": [problem_data(problem) for problem in plan.problems],
    }
    show(data, kind="Migration", output=output, human=lambda _, screen: _lines(plan, screen))
    if not plan.changes:
        screen.note(f"No changes for contract {plan.target}.")
        return Exit.DONE
    if file is not None and write:
        from stockman.adapters.system import SystemEntropy

        screen.note(f"Wrote {migration.write_migration(file, migrated, SystemEntropy())}")
        return Exit.DONE
    return Exit.CHANGES


def _lines(plan: MigrationPlan, screen: Screen) -> Iterator[str]:
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


def _text(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)
