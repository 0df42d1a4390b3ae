"""`stockman health`: run all health checks, for cron and monitoring, and smoke tests."""

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
    from stockman.app.status.smoke_tests import SmokeTestResult
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
_ALL_COMPONENTS = "all"
_MAX_NAMES = 5
"""Maximum number of problems listed for each part."""


@command(
    examples={
        "stockman health": "run all checks; the exit status is the result",
        "stockman health --only etcd --only certificates": "run two checks",
        "stockman health --smoke": "run the smoke tests of all components",
        "stockman health --smoke coredns": "run the smoke test of one component",
        "stockman health -o json": "print the status as JSON",
        f"stockman health -q --textfile {_FOLDER}/stockman.prom": (
            "write them for the node exporter"
        ),
    }
)
@click.option(
    "--only",
    multiple=True,
    type=options.Choice(CHECKS),
    help="Run only this check; can be repeated.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as failures.")
@click.option(
    "--smoke",
    is_flag=False,
    flag_value=_ALL_COMPONENTS,
    metavar="[COMPONENT]",
    help="Run the smoke tests of all components, or of one, instead of the checks.",
)
@click.option(
    "--textfile",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write Prometheus metrics to this file atomically.",
)
@metric_output
@click.pass_context
def health(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    only: tuple[str, ...],
    strict: bool,
    smoke: str | None,
    textfile: Path | None,
    output: MetricsOutput,
) -> int:
    """Check the health of the cluster, for cron and Prometheus.

    The checks are the parts of `stockman status`. The Prometheus metrics also cover the last run.
    They change nothing. A smoke test creates small objects in the cluster, such as a certificate or
    a pod with a volume, and deletes them again. The exit status is 0 if everything is healthy or
    there are only warnings, 1 if a check or test failed or its result is unknown.
    """
    if smoke is not None:
        if only or textfile is not None or output is MetricsOutput.PROMETHEUS:
            raise click.UsageError("--smoke cannot be combined with checks and metrics", ctx)
        return _run_smoke_tests(options.directory(ctx), smoke, Output(output.value))
    from stockman.app.runs.metrics import write_textfile
    from stockman.assessment.prometheus import prometheus_text
    from stockman.cli.status.status import workspace_of

    workspace = workspace_of(options.directory(ctx))
    status, metrics = asyncio.run(_check_health(workspace.directory, _checks(only)))
    failed = not status.healthy or (strict and bool(status.findings))
    if textfile is not None:
        write_textfile(textfile, metrics, workspace.entropy)
        current_screen().note(f"Wrote {textfile}")
    if output is MetricsOutput.PROMETHEUS:
        current_screen().data(prometheus_text(metrics).removesuffix("\n"))
    elif textfile is None or output is not MetricsOutput.TABLE:
        _show(status, Output(output.value), failed=failed)
    return Exit.FAILED if failed else Exit.DONE


def _run_smoke_tests(directory: Path, smoke: str, output: Output) -> int:
    from stockman.app.status.smoke_tests import run_smoke_tests
    from stockman.cli.status.status import workspace_of

    component = "" if smoke == _ALL_COMPONENTS else smoke
    results = asyncio.run(run_smoke_tests(workspace_of(directory), component))
    show(
        [
            {
                "component": result.component,
                "says": result.says,
                "passed": result.problem is None,
                "problem": result.problem.why if result.problem is not None else "",
            }
            for result in results
        ],
        kind="SmokeTests",
        output=output,
        human=lambda _, screen: _smoke_test_lines(results, screen),
    )
    return Exit.FAILED if any(result.problem is not None for result in results) else Exit.DONE


def _smoke_test_lines(results: tuple[SmokeTestResult, ...], screen: Screen) -> Iterator[str]:
    from stockman.cli.status.view import STYLES

    rows: list[Row] = []
    for result in results:
        state = "ok" if result.problem is None else "error"
        rows.append((Cell(state, STYLES[state]), Cell(result.component, "name"), result.says))
        if result.problem is not None:
            rows.append(("", "", f"{result.problem.code}: {result.problem.why}"))
            rows.append(("", "", f"fix: {result.problem.fix}"))
    columns = ("STATE", "COMPONENT", "DETAILS")
    return table(columns, rows, width=screen.width, paint=screen.paint)


def _checks(only: tuple[str, ...]) -> tuple[StatusCheck, ...]:
    from stockman.assessment.status.findings import StatusCheck

    return tuple(check for check in StatusCheck if not only or check.value in only)


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
        seen = await looker.observe(checks)
        status = assess(seen, checks)
        metrics = status_metrics(status, seen)
        if StatusCheck.RUNS in checks and seen.runs is not None and not seen.runs.why:
            history = await run_history(looker.home, looker.clock)
            metrics = (*metrics, *run_metrics(history, status.at))
    return status, metrics


def _show(status: Status, output: Output, *, failed: bool) -> None:
    from stockman.cli.status.view import problems_data

    data = {
        "cluster": status.cluster,
        "at": status.at.isoformat(),
        "failed": failed,
        "healthy": status.healthy,
        "checks": {section.check.value: section.health.value for section in status.parts},
        "found": {section.check.value: section.summary for section in status.parts},
        "problems": problems_data(status),
    }
    show(data, kind="Health", output=output, human=lambda _, screen: _lines(status, screen))


def _lines(status: Status, screen: Screen) -> Iterator[str]:
    rows = [row for section in status.parts for row in _rows(section)]
    return table(("STATE", "CHECK", "DETAILS"), rows, width=screen.width, paint=screen.paint)


def _rows(section: StatusPart) -> Iterator[Row]:
    from stockman.cli.status.view import STYLES

    state = section.health.value
    yield Cell(state, STYLES[state]), Cell(section.check.value, "name"), section.summary
    for finding in section.findings[:_MAX_NAMES]:
        problem = finding.problem
        severity = problem.severity.value
        where = str(problem.where)
        location = f" ({where})" if where and where not in problem.what else ""
        text = f"{problem.code}: {problem.what}{location}: {problem.why}"
        yield Cell(f"  {severity}", STYLES[severity]), "", text
        yield "", "", f"fix: {problem.fix}"
    if len(section.findings) > _MAX_NAMES:
        yield "", "", f"and {len(section.findings) - _MAX_NAMES} more; see `stockman status`"
