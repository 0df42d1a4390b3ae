"""Values that shells offer for commands of the lab: machines and hosts of a running lab."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from stockman.cli.completion import matching_values
from stockman.cli.options import directory

_SOURCE = "stockman_lab.commands.completion"


def complete_lab_hosts(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Completes with the hosts of the lab that the command line means."""
    del param
    state = ctx.params.get("state")
    return matching_values(f"{_SOURCE}:lab_host_names", incomplete, directory(ctx), state)


def lab_host_names(directory: Path, state: str | None) -> tuple[str, ...]:
    """Names of the hosts of a lab that runs."""
    from stockman_lab.commands.runtime.directories import DEFAULT, LabFiles
    from stockman_lab.commands.runtime.power import host_names

    return tuple(host_names(LabFiles(state=directory / (state or DEFAULT))))
