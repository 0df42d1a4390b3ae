"""`stockman graph`: components, their phases, and what waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.terminal.screen import current_screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from stockman.rendering.graph import GraphNode

_FORMS = ("text", "dot", "mermaid", "svg", "json")


@command(
    examples={
        "stockman graph": "phases, components, and what each waits for",
        "stockman graph -o svg > components.svg": "a picture",
        "stockman graph -o mermaid": "for Markdown on hosts that draw it",
        "stockman graph -o dot": "for Graphviz",
    }
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(_FORMS),
    default="text",
    show_default=True,
    help="How the graph is written.",
)
@click.pass_context
def graph(ctx: click.Context, output: str) -> int:
    """Show the components that are on: phases, versions, and what waits for what."""
    from stockman.app.components import component_graph
    from stockman.rendering import graph as forms

    points = component_graph(options.directory(ctx))
    if output == "json":
        from stockman.cli.output import Output, show

        show(points, kind="Graph", output=Output.JSON, human=lambda *_: ())
        return 0
    if not points:
        current_screen().note("the configuration has no cluster, and so no components")
    written: dict[str, Callable[[tuple[GraphNode, ...]], str]] = {
        "text": forms.graph_text,
        "dot": forms.graph_dot,
        "mermaid": forms.graph_mermaid,
        "svg": forms.graph_svg,
    }
    current_screen().data(written[output](points).rstrip("\n"))
    return 0
