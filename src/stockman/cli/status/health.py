"""`stockman health`: everything checked in one go, for cron and for monitoring."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.metrics_output import MetricsOutput, metric_output
from stockman.cli.output import Output, show
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.tables import Cell, Row, table

if TYPE_CHECKING:
    from stockman.assessment.prometheus import Metric
    from stockman.assessment.status.findings import StatusCheck, StatusPart
    from stockman.assessment.status.status import Status

CHECKS = (
    "proxmox",
    "vms",
    "talos",
    "etcd",
    "kubernetes",
    "flux",
    "components",
    "certificates",
    "backups",
    "runs",
)
_FOLDER = "/var/lib/node_exporter"
_MAX_NAMES = 5
"""So many problems of a part are listed; more are counted."""


@command(
    examples={
        "stockman health": "all checks; the exit status says whether all is well",
        "stockman health --only etcd --only certificates": "two of them",
        "stockman health -o json": "for programs",
        f"stockman health -q --textfile {_FOLDER}/stockman.prom": "for a node exporter",
    }
)
@click.option(
    "--only",
    multiple=True,
    type=options.Choice(CHECKS),
    help="Only this check; may be given again. Others are not asked for.",
)
@click.option("--strict", is_flag=True, help="Let warnings count as failures.")
@click.option(
    "--textfile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write metrics for Prometheus to this file, whole or not at all.",
)
@metric_output
@click.pass_context
def health(
    ctx: click.Context,
    only: tuple[str, ...],
    strict: bool,
    textfile: Path | None,
    output: MetricsOutput,
) -> int:
    """Check everything in one go, for cron and for Prometheus.

    The checks are the parts of `stockman status`. Metrics of the last run are among those for
    Prometheus. Nothing is changed. Exits with 0 when all is well or there are only warnings, with
    1 when something does not work or is unknown.
    """
    from stockman.app.metrics_file import write_textfile
    from stockman.assessment.prometheus import prometheus_text
    from stockman.cli.status.status import workspace_of

    place = workspace_of(options.directory(ctx))
    found, metrics = asyncio.run(_check_health(place.directory, _checks(only)))
    failed = not found.healthy or (strict and bool(found.findings))
    if textfile is not None:
        write_textfile(textfile, metrics, place.entropy)
        current_screen().note(f"wrote {textfile}")
    if output is MetricsOutput.PROMETHEUS:
        current_screen().data(prometheus_text(metrics).removesuffix("\n"))
    elif textfile is None or output is not MetricsOutput.TABLE:
        _show(found, Output(output.value), failed=failed)
    return Exit.FAILED if failed else Exit.DONE


def _checks(only: tuple[str, ...]) -> tuple[StatusCheck, ...]:
    from stockman.assessment.status.findings import StatusCheck

    return tuple(one for one in StatusCheck if not only or one.value in only)


async def _check_health(
    directory: Path, checks: tuple[StatusCheck, ...]
) -> tuple[Status, tuple[Metric, ...]]:
    from stockman.app.runs.metrics import run_history, run_metrics
    from stockman.app.status.observation import open_observer
    from stockman.assessment.status.findings import StatusCheck
    from stockman.assessment.status.metrics import status_metrics
    from stockman.assessment.status.status import assess
    from stockman.cli.status.status import workspace_of

    async with open_observer(workspace_of(directory)) as looker:
        seen = await looker.look(checks)
        found = assess(seen, checks)
        metrics = status_metrics(found, seen)
        if StatusCheck.RUNS in checks and seen.runs is not None and not seen.runs.why:
            history = await run_history(looker.home, looker.clock)
            metrics = (*metrics, *run_metrics(history, found.at))
    return found, metrics


def _show(found: Status, output: Output, *, failed: bool) -> None:
    from stockman.cli.status.view import problems_data

    data = {
        "cluster": found.cluster,
        "at": found.at.isoformat(),
        "failed": failed,
        "healthy": found.healthy,
        "checks": {one.check.value: one.health.value for one in found.parts},
        "found": {one.check.value: one.seen for one in found.parts},
        "problems": problems_data(found),
    }
    show(data, kind="Health", output=output, human=lambda _, screen: _lines(found, screen))


def _lines(found: Status, screen: Screen) -> Iterator[str]:
    rows = [row for part in found.parts for row in _rows(part)]
    return table(("STATE", "CHECK", "FOUND"), rows, width=screen.width, paint=screen.paint)


def _rows(part: StatusPart) -> Iterator[Row]:
    from stockman.cli.status.view import STYLES

    state = part.health.value
    yield Cell(state, STYLES[state]), Cell(part.check.value, "name"), part.seen
    for one in part.findings[:_MAX_NAMES]:
        problem = one.problem
        severity = problem.severity.value
        where = str(problem.where)
        place = f" ({where})" if where and where not in problem.what else ""
        text = f"{problem.code}: {problem.what}{place}: {problem.why}"
        yield Cell(f"  {severity}", STYLES[severity]), "", text
        yield "", "", f"fix: {problem.fix}"
    if len(part.findings) > _MAX_NAMES:
        yield "", "", f"and {len(part.findings) - _MAX_NAMES} more, see `stockman status`"
