"""`stockman config schematic`: show the boot images of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_nodes
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_lines
from stockman.cli.terminal.screen import Screen, current_screen

if TYPE_CHECKING:
    from stockman.app.machine_config.schematics import NodesImage


@command(
    name="schematic",
    examples={
        "stockman config schematic": "list every image and the nodes that boot it",
        "stockman config schematic worker-gpu": "show the image of one class and its contents",
        "stockman config schematic -o name": "print the schematic IDs only",
    },
)
@click.argument("name", required=False, shell_complete=complete_nodes)
@options.output_or_name
@click.pass_context
def config_schematic(ctx: click.Context, name: str | None, output: Output) -> int:
    """Show the boot images of nodes and their schematic IDs.

    NAME is a node or a class. IDs are computed locally. Register a schematic with the Image Factory
    once before requesting images of it.
    """
    from stockman.app.machine_config.schematics import list_images

    answer = list_images(options.directory(ctx), name)
    screen = current_screen()
    if answer.warnings:
        screen.print_problems(problem_lines(answer.warnings, paint=screen.notes_paint))
    show(
        answer.images,
        kind="Schematics",
        output=output,
        human=_lines,
        names=lambda shown: [image.schematic for image in shown],
    )
    return Exit.DONE


def _lines(images: tuple[NodesImage, ...], screen: Screen) -> Iterator[str]:
    for number, image in enumerate(images):
        if number:
            yield ""
        yield screen.paint(image.schematic, "name")
        yield f"  nodes:      {', '.join(image.nodes)}"
        if image.classes:
            yield f"  classes:    {', '.join(image.classes)}"
        yield f"  installer:  {image.installer}"
        yield f"  disk image: {image.image_url}"
        if image.text:
            yield "  schematic:"
            yield from (f"    {line}" for line in image.text.splitlines())
        else:
            yield "  schematic:  only its ID is known"
