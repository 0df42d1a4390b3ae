"""`stockman status` and `health`: show the status of the cluster and all systems."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.completion import complete_components
from stockman.cli.options import Duration, MetricsOutput, metric_output
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import problem_data, show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import count_noun, format_duration
from stockman.cli.terminal.tables import Cell, Row, table

if TYPE_CHECKING:
    from stockman.app.runs.session import SessionContext
    from stockman.app.status.observation import StatusObserver
    from stockman.app.status.smoke_tests import SmokeTestResult
    from stockman.assessment.status.findings import StatusCheck, StatusPart
    from stockman.assessment.status.metrics import Metric
    from stockman.assessment.status.status import Status

_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


@command(
    examples={
        "stockman status": "show the status, problems first",
        "stockman status --wait --timeout 15m": "wait until everything is healthy",
        "stockman status --watch": "update the status until Ctrl-C",
        "stockman status -o json": "print the status as JSON",
    }
)
@click.option("--wait", is_flag=True, help="Wait until everything is healthy.")
@click.option(
    "--timeout",
    type=Duration(),
    default="10m",
    show_default=True,
    metavar="SPAN",
    help="Maximum time to wait, such as 90s or 10m.",
)
@click.option(
    "--watch", is_flag=True, help="Update the status and the progress of a run until Ctrl-C."
)
@click.option("--all", "every", is_flag=True, help="List every node, also in large clusters.")
@options.output
@click.pass_context
def status(  # noqa: PLR0913 - one parameter per option
    ctx: click.Context,
    wait: bool,
    timeout: timedelta,
    watch: bool,
    every: bool,
    output: Output,
) -> int:
    """Show the status of Proxmox VE, Talos, etcd, Kubernetes, Flux and more.

    Problems are listed first, each with a fix, followed by every part and by every node with its
    VM, machine and kubelet. Nothing is changed. What could not be read is shown as unknown, never
    as healthy. In large clusters healthy nodes are only counted. The exit status is 0 if everything
    is healthy, 1 otherwise.
    """
    if wait and watch:
        raise click.UsageError("--wait and --watch cannot be combined", ctx)
    context, screen = options.session_context(ctx), current_screen()
    if watch:
        asyncio.run(_watch(context, output, screen, every=every))
    current_status = asyncio.run(_read_status(context, screen, timeout if wait else None))
    show_status(current_status, output, every=every)
    return Exit.DONE if current_status.healthy else Exit.FAILED


def show_status(report: Status, output: Output, *, every: bool = False) -> None:
    """Print a status."""
    from stockman.cli.status.view import status_data, status_lines

    show(
        status_data(report) if output is not Output.TABLE else report,
        kind="Status",
        output=output,
        human=lambda _, screen: status_lines(report, screen, every=every),
    )


async def _read_status(
    context: SessionContext, screen: Screen, longest: timedelta | None
) -> Status:
    from stockman.app.status.observation import open_observer, wait_until_healthy
    from stockman.cli.status.view import waiting_view

    async with open_observer(context) as looker:
        if longest is None:
            return await looker.status()
        view = waiting_view(screen, longest)
        try:
            return await wait_until_healthy(looker, longest, view)
        finally:
            view.close()


async def _watch(context: SessionContext, output: Output, screen: Screen, *, every: bool) -> None:
    from stockman.app.status.observation import open_observer, watch_status
    from stockman.cli.status.view import status_lines

    redraws = output is Output.TABLE and screen.width is not None and screen.can_redraw
    async with open_observer(context) as looker:
        async for latest in watch_status(looker):
            run = [] if output is not Output.TABLE else await run_lines(looker, screen)
            if redraws:
                screen.data(_frame([*run, *status_lines(latest, screen, every=every)], screen))
            else:
                show_status(latest, output, every=every)
                if output is Output.TABLE:
                    screen.data("\n".join([*run, ""]))


async def run_lines(looker: StatusObserver, screen: Screen) -> list[str]:
    """Return the progress of the run that is executing, as `stockman apply` shows it."""
    from stockman.cli.live.frame import FrameSize, FrameTime, frame
    from stockman.cli.live.progress import LiveProgress
    from stockman.cli.terminal.layout import MAX_HELP_WIDTH

    run = await looker.current_run()
    if run is None:
        return []
    progress = LiveProgress(run.plan)
    for entry in run.entries:
        progress.add(entry)
    now = looker.clock.now()
    moment = FrameTime(now=now, began=run.entries[0].at if run.entries else now)
    size = FrameSize(width=screen.width or MAX_HELP_WIDTH, height=screen.notes_height)
    lines = frame(progress, moment, size)
    painted = ("".join(screen.paint(cell.text, cell.style) for cell in line) for line in lines)
    return [screen.paint(f"run {run.run}", "heading"), *painted, ""]


def _frame(shown: list[str], screen: Screen) -> str:
    """Return the lines of a frame that overwrites the previous one, limited to the screen."""
    room = max(screen.notes_height - 2, 1)
    if len(shown) > room:
        shown = [*shown[: room - 1], f"and {len(shown) - room + 1} more lines"]
    return _HOME + "\n".join(f"{line}{_CLEAR_LINE}" for line in shown) + _CLEAR_BELOW


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
_ALL = "all"
"""Value of `--smoke` without a component."""
_FOLDER = "/var/lib/node_exporter"
_MAX_NAMES = 5
"""Maximum number of problems listed for each part."""


@command(
    examples={
        "stockman health": "run all checks; the exit status is the result",
        "stockman health --only etcd --only certificates": "run two checks",
        "stockman health --smoke cilium": "run the smoke test of one component",
        "stockman health -o json": "print the status as JSON",
        f"stockman health -q --textfile {_FOLDER}/stockman.prom": (
            "write the metrics for the node exporter"
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
    flag_value=_ALL,
    metavar="[COMPONENT]",
    shell_complete=complete_components,
    help="Run the smoke tests of all components, or of this one, instead of the checks.",
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
    Nothing is changed. The exit status is 0 if everything is healthy or there are only warnings, 1
    if a check failed or its result is unknown.

    With --smoke, each component is tested as after its installation: small objects are created, the
    result is checked, and the objects are deleted. No run can start meanwhile. The exit status is 1
    if a test failed.
    """
    if smoke is not None:
        if only or textfile is not None or output is MetricsOutput.PROMETHEUS:
            raise click.UsageError(
                "--smoke cannot be combined with --only, --textfile or -o prometheus", ctx
            )
        component = "" if smoke == _ALL else smoke
        results = asyncio.run(_run_smoke_tests(options.session_context(ctx), component))
        return _show_smoke_tests(results, Output(output.value))
    from stockman.app.runs.metrics import write_textfile
    from stockman.assessment.status.metrics import prometheus_text

    context = options.session_context(ctx)
    status, metrics = asyncio.run(_check_health(context, _checks(only)))
    failed = not status.healthy or (strict and bool(status.findings))
    if textfile is not None:
        write_textfile(textfile, metrics, context.entropy)
        current_screen().note(f"Wrote {textfile}")
    if output is MetricsOutput.PROMETHEUS:
        current_screen().data(prometheus_text(metrics).removesuffix("\n"))
    elif textfile is None or output is not MetricsOutput.TABLE:
        _show(status, Output(output.value), failed=failed)
    return Exit.FAILED if failed else Exit.DONE


async def _run_smoke_tests(context: SessionContext, component: str) -> tuple[SmokeTestResult, ...]:
    from stockman.app.runs.history import current_user
    from stockman.app.runs.session import open_session
    from stockman.app.status.smoke_tests import choose_smoke_tests, run_smoke_tests

    async with open_session(context, only_looks=True) as session:
        tests = choose_smoke_tests(session.planner.desired_kubernetes, component)
        current_screen().note(f"Running {count_noun(len(tests), 'smoke test')}")
        return await run_smoke_tests(session.home, session.ports, tests, current_user())


def _show_smoke_tests(results: tuple[SmokeTestResult, ...], output: Output) -> int:
    problems = [result.problem for result in results if result.problem is not None]
    data = {
        "failed": bool(problems),
        "tests": [
            {
                "component": result.component,
                "tests": result.tests,
                "passed": result.passed,
                "seconds": result.seconds,
            }
            for result in results
        ],
        "problems": [problem_data(problem) for problem in problems],
    }
    show(data, kind="SmokeTests", output=output, human=lambda _, on: _smoke_lines(results, on))
    show_problems(problems)
    return Exit.FAILED if problems else Exit.DONE


def _smoke_lines(results: tuple[SmokeTestResult, ...], screen: Screen) -> Iterator[str]:
    rows = [
        (
            Cell("passed", "good") if result.passed else Cell("failed", "error"),
            Cell(result.component, "name"),
            result.tests,
            format_duration(result.seconds),
        )
        for result in results
    ]
    headers = ("STATE", "COMPONENT", "TEST", "DURATION")
    return table(headers, rows, width=screen.width, paint=screen.paint)


def _checks(only: tuple[str, ...]) -> tuple[StatusCheck, ...]:
    from stockman.assessment.status.findings import StatusCheck

    return tuple(check for check in StatusCheck if not only or check.value in only)


async def _check_health(
    context: SessionContext, checks: tuple[StatusCheck, ...]
) -> tuple[Status, tuple[Metric, ...]]:
    from stockman.app.runs.metrics import run_history, run_metrics
    from stockman.app.status.observation import open_observer
    from stockman.assessment.status.findings import StatusCheck
    from stockman.assessment.status.metrics import status_metrics
    from stockman.assessment.status.status import assess

    async with open_observer(context) as looker:
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
