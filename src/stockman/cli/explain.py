"""`stockman explain`: explain keys, problems and components."""

from __future__ import annotations

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_explain_arguments
from stockman.cli.output import Output, show

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
