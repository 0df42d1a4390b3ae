"""`stockman versions`: the compatibility tables beside what the user's files pin."""

from __future__ import annotations

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.options import Choice
from stockman.cli.output import Output, show
from stockman.cli.screen import current

TOPICS = ("talos", "kubernetes", "proxmox", "components", "extensions")


@command(
    examples={
        "stockman versions": "show which versions fit together, what you pin and what is newer",
        "stockman versions talos": "show every supported Talos and what it runs",
        "stockman versions components --online": "ask the registries for the newest charts",
        "stockman versions extensions -o name": "list the names of all system extensions",
    }
)
@click.argument("topic", required=False, type=Choice(TOPICS))
@click.option("--online", is_flag=True, help="Ask the registries of the charts what is newest.")
@options.output_or_name
@click.pass_context
def versions(ctx: click.Context, topic: str | None, online: bool, output: Output) -> int:
    """Show which versions fit together, what you pin and what is newer.

    TOPIC is one of talos, kubernetes, proxmox, components and extensions; without it, the pinned
    versions are shown beside the newest. Nothing is asked over the network without --online, and
    then only the registries that charts are published in.
    """
    if online and topic not in (None, "components"):
        raise click.UsageError(f"--online asks for charts, so it has no use with {topic}")

    from stockman.app import workspace
    from stockman.app.versions import compare, tables
    from stockman.cli.version_views import TOPICS as VIEWS
    from stockman.cli.version_views import Known, summary

    screen = current()
    pins = workspace.pins(options.directory(ctx))
    if online:
        screen.note("asking the registries of the charts")
    report = compare(pins, online=online)
    known = Known(tables(), pins, report)
    view = summary(known) if topic is None else VIEWS[topic](known)
    show(
        view.data,
        kind=view.kind,
        output=output,
        human=lambda _, screen: view.lines(screen),
        names=lambda _: view.names,
    )
    if not online:
        screen.note(f"from tables of {report.refreshed}; `--online` asks for newer charts")
    return 0
