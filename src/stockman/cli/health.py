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
from stockman.cli.metric_form import Form, metric_output
from stockman.cli.output import Output, show
from stockman.cli.screen import Screen, current
from stockman.cli.tables import Cell, Row, table

if TYPE_CHECKING:
    from stockman.app.prometheus_text import Metric
    from stockman.app.status.finding import Check, Part
    from stockman.app.status.status import Status

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
_MANY = 5
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
    ctx: click.Context, only: tuple[str, ...], strict: bool, textfile: Path | None, output: Form
) -> int:
    """Check everything in one go, for cron and for Prometheus.

    The checks are the parts of `stockman status`. Metrics of the last run are among those for
    Prometheus. Nothing is changed. Exits with 0 when all is well or there are only warnings, with
    1 when something does not work or is unknown.
    """
    from stockman.app.metrics_file import write_textfile
    from stockman.app.prometheus_text import prometheus_text
    from stockman.cli.status import place_of

    place = place_of(options.directory(ctx))
    found, metrics = asyncio.run(_looked(place.directory, _checks(only)))
    failed = not found.healthy or (strict and bool(found.findings))
    if textfile is not None:
        write_textfile(textfile, metrics, place.entropy)
        current().note(f"wrote {textfile}")
    if output is Form.PROMETHEUS:
        current().data(prometheus_text(metrics).removesuffix("\n"))
    elif textfile is None or output is not Form.TABLE:
        _show(found, Output(output.value), failed=failed)
    return Exit.FAILED if failed else Exit.DONE


def _checks(only: tuple[str, ...]) -> tuple[Check, ...]:
    from stockman.app.status.finding import Check

    return tuple(one for one in Check if not only or one.value in only)


async def _looked(directory: Path, checks: tuple[Check, ...]) -> tuple[Status, tuple[Metric, ...]]:
    from stockman.app.run_metrics import run_history, run_metrics
    from stockman.app.status.finding import Check
    from stockman.app.status.looking import opened_looker
    from stockman.app.status.metrics import status_metrics
    from stockman.app.status.status import judged
    from stockman.cli.status import place_of

    async with opened_looker(place_of(directory)) as looker:
        seen = await looker.look(checks)
        found = judged(seen, checks)
        metrics = status_metrics(found, seen)
        if Check.RUNS in checks and seen.runs is not None and not seen.runs.why:
            history = await run_history(looker.home, looker.clock)
            metrics = (*metrics, *run_metrics(history, found.at))
    return found, metrics


def _show(found: Status, output: Output, *, failed: bool) -> None:
    from stockman.cli.status_data import problems_data

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


def _rows(part: Part) -> Iterator[Row]:
    from stockman.cli.status_view import STYLES

    state = part.health.value
    yield Cell(state, STYLES[state]), Cell(part.check.value, "name"), part.seen
    for one in part.findings[:_MANY]:
        problem = one.problem
        severity = problem.severity.value
        where = str(problem.where)
        place = f" ({where})" if where and where not in problem.what else ""
        text = f"{problem.code}: {problem.what}{place}: {problem.why}"
        yield Cell(f"  {severity}", STYLES[severity]), "", text
        yield "", "", f"fix: {problem.fix}"
    if len(part.findings) > _MANY:
        yield "", "", f"and {len(part.findings) - _MANY} more, see `stockman status`"
