"""`stockman schema`: JSON Schemas of the files, for editors."""

from __future__ import annotations

from pathlib import Path

import click

from stockman.cli.command import command
from stockman.cli.options import Choice, directory
from stockman.cli.terminal.screen import current_screen

FILES = ("cluster.yaml", "nodes.yaml", "cluster.toml")


@command(
    examples={
        "stockman schema --write .schemas": "let editors complete and check the files",
        "stockman schema nodes.yaml": "print the schema of nodes.yaml",
        "stockman schema cluster.toml > schema.json": "keep the schema of cluster.toml",
    }
)
@click.argument("file", required=False, type=Choice(FILES))
@click.option(
    "--write",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write into a directory, and tell the line that lets editors find it.",
)
@click.pass_context
def schema(ctx: click.Context, file: str | None, write: Path | None) -> int:
    """Print the JSON Schema of a file, for editors.

    FILE is cluster.yaml, nodes.yaml or cluster.toml. Without it, the schema of cluster.yaml is
    printed, or with --write all three are written. What is printed is the schema itself (draft
    2020-12), not wrapped in anything. A schema checks each key by itself; `stockman validate`
    also knows the rules between keys. Exits with 1 where DIR cannot be written.
    """
    from stockman.app.schemas import schema_text, write_schemas

    screen = current_screen()
    if write is None:
        if file is None:
            screen.note("the schema of cluster.yaml; there are nodes.yaml and cluster.toml too")
        screen.data(schema_text(file or FILES[0]))
        return 0
    for written in write_schemas(directory(ctx), write, FILES if file is None else (file,)):
        state = "written" if written.changed else "up to date"
        screen.data(f"{written.path}: {state}")
        screen.note(f"  first line of {written.file}: {written.line}")
    return 0
