"""`stockman schema`: JSON Schemas of the configuration files."""

from __future__ import annotations

from pathlib import Path

import click

from stockman.cli.command import command
from stockman.cli.options import Choice, directory
from stockman.cli.terminal.screen import current_screen

FILES = ("cluster.yaml", "nodes.yaml", "cluster.toml")


@command(
    examples={
        "stockman schema --write .schemas": "enable completion and checks in editors",
        "stockman schema nodes.yaml": "print the schema of nodes.yaml",
        "stockman schema cluster.toml > schema.json": "save the schema of cluster.toml",
    }
)
@click.argument("file", required=False, type=Choice(FILES))
@click.option(
    "--write",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the schemas to this directory, and print the line that enables them in editors.",
)
@click.pass_context
def schema(ctx: click.Context, file: str | None, write: Path | None) -> int:
    """Print the JSON Schema of a configuration file.

    FILE is cluster.yaml, nodes.yaml or cluster.toml. It defaults to cluster.yaml; with --write all
    three schemas are written. The output is the bare schema (draft 2020-12). A schema checks each
    key separately; `stockman validate` also checks rules between keys. The exit status is 1 if DIR
    cannot be written.
    """
    from stockman.app.schemas import schema_text, write_schemas

    screen = current_screen()
    if write is None:
        if file is None:
            screen.note(
                "This is the schema of cluster.yaml; nodes.yaml and cluster.toml have schemas too."
            )
        screen.data(schema_text(file or FILES[0]))
        return 0
    for written in write_schemas(directory(ctx), write, FILES if file is None else (file,)):
        state = "written" if written.changed else "up to date"
        screen.data(f"{written.path}: {state}")
        screen.note(f"  first line of {written.file}: {written.line}")
    return 0
