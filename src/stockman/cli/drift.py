"""`stockman drift`: what differs from the files, who did it, and what corrects it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_lines
from stockman.cli.screen import current

if TYPE_CHECKING:
    from stockman.app.drift.layer import Layer
    from stockman.app.drift.report import Report
    from stockman.model.drift import DriftRule

LAYERS = ("vms", "placement", "talos", "kubernetes", "tree", "access")


@command(
    examples={
        "stockman drift": "compare everything with the files",
        "stockman drift --layer vms --layer talos": "look at machines only",
        "stockman drift --explain": "see every value, how the author is known, and every step",
        "stockman drift -o json": "let a program decide; exits with 2 when there is drift",
    }
)
@click.option(
    "--layer",
    "layers",
    type=options.Choice(LAYERS),
    multiple=True,
    help="Judge this layer only; may be given several times.",
)
@click.option("--explain", is_flag=True, help="Show values, authors and corrections in full.")
@options.output
@click.pass_context
def drift(ctx: click.Context, layers: tuple[str, ...], explain: bool, output: Output) -> int:
    """Show what differs from the files, who did it, and what corrects it.

    Machines, their configurations, objects in the cluster, rendered files and access are compared
    with what the files say; nothing is changed. What others own is no drift: versions under tuppr,
    machines of Karpenter, volumes of CSI, machines that high availability moved, and fields of
    objects that the files do not name. Rules in `drift.ignore` let differences stay for a while.
    Exits with 2 when there is drift, and with 1 when a layer could not be read.
    """
    from stockman.app.drift.layer import Layer
    from stockman.app.drift.unread import rule_expired
    from stockman.cli.drift_view import explained, listed, summary

    report = _found(options.directory(ctx), tuple(Layer(one) for one in layers))
    data = {
        "layers": report.states,
        "drifts": report.drifts,
        "unknown": report.unknown,
        "ignored": report.ignored,
        "expired": [_rule(one) for one in report.expired],
    }
    lines = explained if explain else listed
    show(data, kind="Drift", output=output, human=lambda _, screen: lines(report, screen))
    screen = current()
    told = [*(rule_expired(one, report.today) for one in report.expired)]
    told += dict.fromkeys(one.problem for one in report.unknown)
    if told:
        screen.complain(problem_lines(told, paint=screen.notes_paint, width=screen.notes_width))
    screen.note(summary(report))
    if report.unknown:
        return Exit.FAILED
    return Exit.CHANGES if report.drifts else Exit.DONE


def _found(directory: Path, layers: tuple[Layer, ...]) -> Report:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.drift.drifting import DriftFinder
    from stockman.app.run_doors import opened_doors
    from stockman.app.workspace_plan import Workspace

    async def told() -> Report:
        clock = SystemTimekeeper()
        workspace = Workspace(directory, os.environ, clock, SystemEntropy())
        finder = DriftFinder(workspace)
        async with opened_doors(workspace, clock) as ports:
            return await finder.find(ports, layers)

    return asyncio.run(told())


def _rule(rule: DriftRule) -> dict[str, str]:
    return {
        "layer": rule.layer,
        "subject": rule.subject,
        "key": rule.field,
        "until": rule.until,
        "reason": rule.reason,
    }
