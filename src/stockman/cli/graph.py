"""`stockman graph`: show components, their phases and dependencies."""

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
        "stockman graph": "list phases, components and dependencies",
        "stockman graph -o svg > components.svg": "a picture",
        "stockman graph -o mermaid": "print a Mermaid diagram for Markdown",
        "stockman graph -o dot": "print a Graphviz graph",
    }
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(_FORMS),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.pass_context
def graph(ctx: click.Context, output: str) -> int:
    """Show enabled components, their phases, versions and dependencies."""
    from stockman.app.components import component_graph
    from stockman.rendering import graph as forms

    points = component_graph(options.directory(ctx))
    if output == "json":
        from stockman.cli.output import Output, show

        show(points, kind="Graph", output=Output.JSON, human=lambda *_: ())
        return 0
    if not points:
        current_screen().note("The configuration has no cluster, so there are no components.")
    written: dict[str, Callable[[tuple[GraphNode, ...]], str]] = {
        "text": forms.graph_text,
        "dot": forms.graph_dot,
        "mermaid": forms.graph_mermaid,
        "svg": forms.graph_svg,
    }
    current_screen().data(written[output](points).rstrip("\n"))
    return 0
