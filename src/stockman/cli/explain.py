"""`stockman explain`: keys, problems and components in words."""

from __future__ import annotations

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_explain_arguments
from stockman.cli.output import Output, show

_WITH_NAME = len(("component", "NAME"))


@command(
    examples={
        "stockman explain": "list the keys of every file",
        "stockman explain nodes.vm.nics": "explain a key and what stands in it",
        "stockman explain cluster_pod_cidr": "explain a key by its name in cluster.yaml",
        "stockman explain nodes --recursive": "show everything a node may have",
        "stockman explain address.taken": "explain a problem by its code",
        "stockman explain component": "list the components with what they are for",
        "stockman explain component cilium": "show all that is known of a component",
    }
)
@click.argument(
    "names",
    metavar="[KEY|CODE|component [NAME]]",
    nargs=-1,
    shell_complete=complete_explain_arguments,
)
@click.option("-r", "--recursive", is_flag=True, help="Show all keys below, down to the last.")
@options.output
def explain(names: tuple[str, ...], recursive: bool, output: Output) -> int:
    """Explain a key of the files, a problem by its code, or a component.

    KEY is a key as it stands in cluster.yaml, nodes.yaml or cluster.toml, with dots between the
    levels. Lists need no position, and names of your own may be written, left out or replaced by
    NAME: hosts.NAME.pools, hosts.pve-a.pools and hosts.pools are the same. CODE is the code of a
    problem, as it stands in its first line. After the word component, NAME is a component: what
    it installs, what it needs, its settings, how one knows that it works, and known troubles.
    Without anything, the keys at the top of the files are listed. Exits with 64 where there is no
    such key, code or component.
    """
    from stockman.app import explanation
    from stockman.config.reference.explain import render_explanation, render_overview

    if names[:1] == ("component",) and len(names) <= _WITH_NAME:
        return _explain_components(names[1:], output)
    if len(names) > 1:
        raise click.UsageError(f"one key or code at a time, not {len(names)}: {' '.join(names)}")
    if not names:
        show(
            explanation.top_level(),
            kind="Keys",
            output=output,
            human=lambda files, screen: render_overview(
                [(one.file, one.keys) for one in files], width=screen.width, paint=screen.paint
            ),
        )
        return 0
    found = explanation.explain(names[0], recursive=recursive)
    if isinstance(found, explanation.ProblemPage):
        show(found, kind="ProblemPage", output=output, human=lambda page, _: page.text.split("\n"))
    else:
        show(
            found,
            kind="Explanation",
            output=output,
            human=lambda found, screen: render_explanation(
                found, width=screen.width, paint=screen.paint
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
