"""`stockman config schematic`: the images that nodes boot from."""

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
        "stockman config schematic": "every image, and the nodes that boot from it",
        "stockman config schematic worker-gpu": "the image of one class, with its contents",
        "stockman config schematic -o name": "the ids alone",
    },
)
@click.argument("name", required=False, shell_complete=complete_nodes)
@options.output_or_name
@click.pass_context
def config_schematic(ctx: click.Context, name: str | None, output: Output) -> int:
    """Show the images that nodes boot from, and the ids of their schematics.

    NAME is a node or a class. Ids are computed here; the Image Factory is not asked, and has to be
    told of a schematic once before it makes images of it.
    """
    from stockman.app.machine_config.schematics import list_images

    answer = list_images(options.directory(ctx), name)
    screen = current_screen()
    if answer.warnings:
        screen.complain(problem_lines(answer.warnings, paint=screen.notes_paint))
    show(
        answer.found,
        kind="Schematics",
        output=output,
        human=_lines,
        names=lambda shown: [one.schematic for one in shown],
    )
    return Exit.DONE


def _lines(found: tuple[NodesImage, ...], screen: Screen) -> Iterator[str]:
    for number, one in enumerate(found):
        if number:
            yield ""
        yield screen.paint(one.schematic, "name")
        yield f"  nodes:      {', '.join(one.nodes)}"
        if one.classes:
            yield f"  classes:    {', '.join(one.classes)}"
        yield f"  installer:  {one.installer}"
        yield f"  disk image: {one.image_url}"
        if one.text:
            yield "  schematic:"
            yield from (f"    {line}" for line in one.text.splitlines())
        else:
            yield "  schematic:  only its id is known"
