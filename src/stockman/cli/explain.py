"""`stockman explain`: keys and problems in words."""

from __future__ import annotations

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.complete import complete_keys_and_codes
from stockman.cli.output import Output, show


@command(
    examples={
        "stockman explain": "list the keys of every file",
        "stockman explain nodes.vm.nics": "explain a key and what stands in it",
        "stockman explain cluster_pod_cidr": "explain a key by its name in cluster.yaml",
        "stockman explain nodes --recursive": "show everything a node may have",
        "stockman explain address.taken": "explain a problem by its code",
    }
)
@click.argument(
    "name", metavar="[KEY|CODE]", required=False, shell_complete=complete_keys_and_codes
)
@click.option("-r", "--recursive", is_flag=True, help="Show all keys below, down to the last.")
@options.output
def explain(name: str | None, recursive: bool, output: Output) -> int:
    """Explain a key of the files, or a problem by its code.

    KEY is a key as it stands in cluster.yaml, nodes.yaml or cluster.toml, with dots between the
    levels. Lists need no position, and names of your own may be written, left out or replaced by
    NAME: hosts.NAME.pools, hosts.pve-a.pools and hosts.pools are the same. CODE is the code of a
    problem, as it stands in its first line. Without either, the keys at the top of the files are
    listed. Exits with 64 where there is no such key and no such code.
    """
    from stockman.app import explanation
    from stockman.config.explain import explained, overview

    if name is None:
        show(
            explanation.top_level(),
            kind="Keys",
            output=output,
            human=lambda files, screen: overview(
                [(one.file, one.keys) for one in files], width=screen.width, paint=screen.paint
            ),
        )
        return 0
    found = explanation.explain(name, recursive=recursive)
    if isinstance(found, explanation.Page):
        show(found, kind="ProblemPage", output=output, human=lambda page, _: page.text.split("\n"))
    else:
        show(
            found,
            kind="Explanation",
            output=output,
            human=lambda found, screen: explained(found, width=screen.width, paint=screen.paint),
        )
    return 0
