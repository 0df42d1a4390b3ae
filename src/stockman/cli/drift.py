"""Drifts as people read them: a row each, or everything about each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.assessment.drift.report import (
        Author,
        Drift,
        DriftReport,
        DriftValue,
        IgnoredDrift,
    )
import asyncio
import os
from pathlib import Path

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.exit import Exit
from stockman.cli.output import Output, show
from stockman.cli.problems import problem_lines
from stockman.cli.terminal.screen import current_screen

if TYPE_CHECKING:
    from stockman.assessment.drift.report import DriftReport, Layer
    from stockman.model.policies import DriftRule


_MOST = 3
_STYLES = {"critical": "error", "warning": "warning", "notice": "faint"}


def summary(report: DriftReport) -> str:
    """All layers in a line."""
    states = ", ".join(f"{layer} {state}" for layer, state in report.states.items())
    ignored = f"; {len(report.ignored)} ignored" if report.ignored else ""
    found = f"{len(report.drifts)} drifts" if len(report.drifts) != 1 else "1 drift"
    none = "no drift in what could be read" if report.unknown else "no drift"
    return f"{found if report.drifts else none}{ignored}: {states}"


def drift_table(report: DriftReport, screen: Screen) -> Iterator[str]:
    """A row for each drift, and the commands that correct them."""
    if report.drifts:
        headers = ("LAYER", "SEVERITY", "WHAT", "BY")
        rows = (
            (
                Cell(one.layer.value, "name"),
                Cell(one.severity.value, _STYLES[one.severity.value]),
                _description(one),
                one.author.who or "unknown",
            )
            for one in report.drifts
        )
        yield from table(headers, rows, width=screen.width, paint=screen.paint)
        yield ""
        yield screen.paint("To correct it:", "heading")
        yield from (f"  {one}" for one in _commands(report.drifts))
    yield from _ignore_note(report.ignored)


def _description(drift: Drift) -> str:
    told = [f"{one.key}: {_values(one)}" for one in drift.values[:_MOST]]
    more = [f"and {len(drift.values) - _MOST} more"] if len(drift.values) > _MOST else []
    return "; ".join(filter(None, [drift.what, *told, *more] if told else [drift.what, drift.why]))


def _values(value: DriftValue) -> str:
    found = "not set" if value.found is None else value.found
    wanted = "should not be" if value.wanted is None else value.wanted
    return f"{found} -> {wanted}"


def _commands(drifts: Iterable[Drift]) -> Iterator[str]:
    """What to type, each once; one run does everything that plans can do."""
    stages = dict.fromkeys(
        step.id.partition("/")[0] for one in drifts for step in one.correction.steps
    )
    if stages:
        yield "stockman apply"
    yield from dict.fromkeys(
        one.correction.command
        for one in drifts
        if not one.correction.steps and one.correction.command
    )


def drift_details(report: DriftReport, screen: Screen) -> Iterator[str]:
    """Everything about each drift, one below the other."""
    for number, one in enumerate(report.drifts):
        if number:
            yield ""
        grade = screen.paint(one.severity.value, _STYLES[one.severity.value])
        yield f"{screen.paint(one.layer.value, 'name')} {grade}: {escape_control(one.what)}"
        if one.why:
            yield f"  why: {escape_control(one.why)}"
        yield from (
            f"  {escape_control(each.key)}: {escape_control(_values(each))}" for each in one.values
        )
        yield from (f"  {escape_control(line)}" for line in one.details)
        yield f"  by: {escape_control(_author(one.author))}"
        yield from _correction(one)
    yield from _ignore_note(report.ignored)


def _author(author: Author) -> str:
    if not author.is_known:
        return f"unknown ({author.how})" if author.how else "unknown"
    when = f" at {author.when:%Y-%m-%d %H:%M:%S}" if author.when is not None else ""
    return f"{author.who}{when} ({author.how})"


def _correction(drift: Drift) -> Iterator[str]:
    correction = drift.correction
    if correction.command:
        yield f"  correct: {escape_control(correction.command)}"
    for step in correction.steps:
        yield f"    {step.id}: {escape_control(step.summary)}"
    if correction.stopped_by:
        yield f"    but first: {escape_control(correction.stopped_by)}"


def _ignore_note(ignored: Iterable[IgnoredDrift]) -> Iterator[str]:
    for one in ignored:
        yield f"ignored until {one.until}: {escape_control(_description(one.drift))} ({escape_control(one.reason)})"


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
    from stockman.assessment.drift.report import Layer, rule_expired

    report = _find_drifts(options.directory(ctx), tuple(Layer(one) for one in layers))
    data = {
        "layers": report.states,
        "drifts": report.drifts,
        "unknown": report.unknown,
        "ignored": report.ignored,
        "expired": [_parse_rule(one) for one in report.expired],
    }
    lines = drift_details if explain else drift_table
    show(data, kind="Drift", output=output, human=lambda _, screen: lines(report, screen))
    screen = current_screen()
    told = [*(rule_expired(one, report.today) for one in report.expired)]
    told += dict.fromkeys(one.problem for one in report.unknown)
    if told:
        screen.complain(problem_lines(told, paint=screen.notes_paint, width=screen.notes_width))
    screen.note(summary(report))
    if report.unknown:
        return Exit.FAILED
    return Exit.CHANGES if report.drifts else Exit.DONE


def _find_drifts(directory: Path, layers: tuple[Layer, ...]) -> DriftReport:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.drift.finder import DriftFinder
    from stockman.app.runs.connections import open_clients
    from stockman.app.runs.workspace import RunWorkspace

    async def told() -> DriftReport:
        clock = SystemTimekeeper()
        workspace = RunWorkspace(directory, os.environ, clock, SystemEntropy())
        finder = DriftFinder(workspace)
        async with open_clients(workspace, clock) as ports:
            return await finder.find(ports, layers)

    return asyncio.run(told())


def _parse_rule(rule: DriftRule) -> dict[str, str]:
    return {
        "layer": rule.layer,
        "subject": rule.subject,
        "key": rule.field,
        "until": rule.until,
        "reason": rule.reason,
    }
