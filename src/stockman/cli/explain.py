"""`stockman explain`, `graph` and `schema`: keys, problems, components and JSON schemas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_explain_arguments
from stockman.cli.options import Choice, directory
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import current_screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from stockman.rendering.graph import GraphNode

_WITH_NAME = len(("component", "NAME"))


@command(
    examples={
        "stockman explain": "list the top-level keys of every file",
        "stockman explain nodes.vm.nics": "explain a key and the keys below it",
        "stockman explain cluster_pod_cidr": "explain a key by its name in cluster.yaml",
        "stockman explain nodes --recursive": "show every key of a node",
        "stockman explain address.taken": "explain a problem by its code",
        "stockman explain component": "list the components",
        "stockman explain component cilium": "explain a component",
    }
)
@click.argument(
    "names",
    metavar="[KEY|CODE|component [NAME]]",
    nargs=-1,
    shell_complete=complete_explain_arguments,
)
@click.option("-r", "--recursive", is_flag=True, help="Show the keys of all levels below.")
@options.output
def explain(names: tuple[str, ...], recursive: bool, output: Output) -> int:
    """Explain a configuration key, a problem code or a component.

    KEY is a key of cluster.yaml, nodes.yaml or cluster.toml, with dots between the levels. List
    positions are not needed, and names of your own can be omitted or replaced by NAME:
    hosts.NAME.pools, hosts.pve-a.pools and hosts.pools are the same. CODE is the code in the first
    line of a problem. After the word component, NAME is a component: its purpose, requirements,
    settings, readiness conditions and known problems are shown. Without arguments, the top-level
    keys are listed. The exit status is 64 if the key, code or component does not exist.
    """
    from stockman.app import explanation
    from stockman.config.reference.explain import render_explanation, render_overview

    if names[:1] == ("component",) and len(names) <= _WITH_NAME:
        return _explain_components(names[1:], output)
    if len(names) > 1:
        raise click.UsageError(f"expected one key or code, got {len(names)}: {' '.join(names)}")
    if not names:
        show(
            explanation.top_level(),
            kind="Keys",
            output=output,
            human=lambda files, screen: render_overview(
                [(file.file, file.keys) for file in files], width=screen.width, paint=screen.paint
            ),
        )
        return 0
    answer = explanation.explain(names[0], recursive=recursive)
    if isinstance(answer, explanation.ProblemPage):
        show(answer, kind="ProblemPage", output=output, human=lambda page, _: page.text.split("\n"))
    else:
        show(
            answer,
            kind="Explanation",
            output=output,
            human=lambda value, screen: render_explanation(
                value, width=screen.width, paint=screen.paint
            ),
        )
    return 0


def _explain_components(names: tuple[str, ...], output: Output) -> int:
    from stockman.app import explanation
    from stockman.catalog.explanation import overview_lines, page_lines

    if names:
        show(
            explanation.explain_component(names[0]),
            kind="Component",
            output=output,
            human=lambda page, screen: page_lines(page, width=screen.width, paint=screen.paint),
        )
    else:
        show(
            explanation.component_pages(),
            kind="Components",
            output=output,
            human=lambda pages, screen: overview_lines(
                pages, width=screen.width, paint=screen.paint
            ),
        )
    return 0


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
    from stockman.app.explanation import component_graph
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
