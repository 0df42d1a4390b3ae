"""`stockman drift`: show differences between the configuration and the live systems."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stockman.cli import options
from stockman.cli.command import command
from stockman.cli.output import Exit, Output, show
from stockman.cli.problems import show_problems
from stockman.cli.terminal.screen import Screen, current_screen
from stockman.cli.terminal.styles import escape_control
from stockman.cli.terminal.tables import Cell, table

if TYPE_CHECKING:
    from stockman.assessment.drift.report import (
        Author,
        Drift,
        DriftReport,
        DriftValue,
        IgnoredDrift,
        Layer,
    )
    from stockman.model.policies import DriftRule

_MOST = 3
_STYLES = {"critical": "error", "warning": "warning", "notice": "faint"}


def summary(report: DriftReport) -> str:
    """Summarize all layers in one line."""
    states = ", ".join(f"{layer} {state}" for layer, state in report.states.items())
    ignored = f"; {len(report.ignored)} ignored" if report.ignored else ""
    count = f"{len(report.drifts)} drifts" if len(report.drifts) != 1 else "1 drift"
    none = "no drift in the layers that could be read" if report.unknown else "no drift"
    return f"{count if report.drifts else none}{ignored}: {states}"


def drift_table(report: DriftReport, screen: Screen) -> Iterator[str]:
    """Return a table of drifts, and the commands that correct them."""
    if report.drifts:
        headers = ("LAYER", "SEVERITY", "DIFFERENCE", "AUTHOR")
        rows = (
            (
                Cell(drift.layer.value, "name"),
                Cell(drift.severity.value, _STYLES[drift.severity.value]),
                _description(drift),
                drift.author.name or "unknown",
            )
            for drift in report.drifts
        )
        yield from table(headers, rows, width=screen.width, paint=screen.paint)
        yield ""
        yield screen.paint("To correct it:", "heading")
        yield from (f"  {command}" for command in _commands(report.drifts))
    yield from _ignore_note(report.ignored)


def _description(drift: Drift) -> str:
    texts = [f"{value.key}: {_values(value)}" for value in drift.values[:_MOST]]
    more = [f"and {len(drift.values) - _MOST} more"] if len(drift.values) > _MOST else []
    return "; ".join(
        filter(
            None, [drift.description, *texts, *more] if texts else [drift.description, drift.why]
        )
    )


def _values(value: DriftValue) -> str:
    observed = "not set" if value.observed is None else value.observed
    desired = "should not exist" if value.desired is None else value.desired
    return f"{observed} -> {desired}"


def _commands(drifts: Iterable[Drift]) -> Iterator[str]:
    """Return each command once; one run corrects everything that plans can correct."""
    stages = dict.fromkeys(
        step.id.partition("/")[0] for drift in drifts for step in drift.correction.steps
    )
    if stages:
        yield "stockman apply"
    yield from dict.fromkeys(
        drift.correction.command
        for drift in drifts
        if not drift.correction.steps and drift.correction.command
    )


def drift_details(report: DriftReport, screen: Screen) -> Iterator[str]:
    """Return all details of each drift."""
    for number, drift in enumerate(report.drifts):
        if number:
            yield ""
        grade = screen.paint(drift.severity.value, _STYLES[drift.severity.value])
        layer = screen.paint(drift.layer.value, "name")
        yield f"{layer} {grade}: {escape_control(drift.description)}"
        if drift.why:
            yield f"  why: {escape_control(drift.why)}"
        yield from (
            f"  {escape_control(each.key)}: {escape_control(_values(each))}"
            for each in drift.values
        )
        yield from (f"  {escape_control(line)}" for line in drift.details)
        yield f"  by: {escape_control(_author(drift.author))}"
        yield from _correction(drift)
    yield from _ignore_note(report.ignored)


def _author(author: Author) -> str:
    if not author.is_known:
        return f"unknown ({author.how})" if author.how else "unknown"
    when = f" at {author.when:%Y-%m-%d %H:%M:%S}" if author.when is not None else ""
    return f"{author.name}{when} ({author.how})"


def _correction(drift: Drift) -> Iterator[str]:
    correction = drift.correction
    if correction.command:
        yield f"  correct: {escape_control(correction.command)}"
    for step in correction.steps:
        yield f"    {step.id}: {escape_control(step.summary)}"
    if correction.blocked_by:
        yield f"    blocked by: {escape_control(correction.blocked_by)}"


def _ignore_note(ignored: Iterable[IgnoredDrift]) -> Iterator[str]:
    for ignored_drift in ignored:
        text = f"{_description(ignored_drift.drift)} ({ignored_drift.reason})"
        yield f"ignored until {ignored_drift.until}: {escape_control(text)}"


LAYERS = ("vms", "placement", "talos", "kubernetes", "tree", "access")


@command(
    examples={
        "stockman drift": "compare everything with the configuration",
        "stockman drift --layer vms --layer talos": "compare only VMs and machine configurations",
        "stockman drift --explain": (
            "show all values, how the author was determined, and every correction"
        ),
        "stockman drift -o json": (
            "print the result as JSON; the exit status is 2 if there is drift"
        ),
    }
)
@click.option(
    "--layer",
    "layers",
    type=options.Choice(LAYERS),
    multiple=True,
    help="Check only this layer; can be repeated.",
)
@click.option("--explain", is_flag=True, help="Show all values, authors and corrections.")
@options.output
@click.pass_context
def drift(ctx: click.Context, layers: tuple[str, ...], explain: bool, output: Output) -> int:
    """Show drift from the configuration, who caused it, and how to correct it.

    VMs, machine configurations, Kubernetes objects, rendered files and access are compared with the
    configuration; nothing is changed. Fields and objects that other managers own are ignored:
    versions managed by tuppr, machines of Karpenter, CSI volumes, VMs moved by HA, and object
    fields that the files do not set. Rules in `drift.ignore` ignore differences for a limited time.
    The exit status is 2 if there is drift, 1 if a layer could not be read.
    """
    from stockman.assessment.drift.report import Layer, expired_rule

    report = _find_drifts(options.directory(ctx), tuple(Layer(layer) for layer in layers))
    data = {
        "layers": report.states,
        "drifts": report.drifts,
        "unknown": report.unknown,
        "ignored": report.ignored,
        "expired": [_parse_rule(rule) for rule in report.expired],
    }
    lines = drift_details if explain else drift_table
    show(data, kind="Drift", output=output, human=lambda _, screen: lines(report, screen))
    problems = [*(expired_rule(rule, report.today) for rule in report.expired)]
    problems += dict.fromkeys(layer.problem for layer in report.unknown)
    show_problems(problems)
    current_screen().note(summary(report))
    if report.unknown:
        return Exit.FAILED
    return Exit.CHANGES if report.drifts else Exit.DONE


def _find_drifts(directory: Path, layers: tuple[Layer, ...]) -> DriftReport:
    from stockman.adapters.system import SystemEntropy, SystemTimekeeper
    from stockman.app.drift.finder import DriftFinder
    from stockman.app.runs.connections import open_clients
    from stockman.app.runs.workspace import RunWorkspace
    from stockman.assessment.drift.report import Layer

    async def find_all() -> DriftReport:
        clock = SystemTimekeeper()
        workspace = RunWorkspace(directory, os.environ, clock, SystemEntropy())
        finder = DriftFinder(workspace)
        looks_at_access = not layers or Layer.ACCESS in layers
        async with open_clients(workspace, clock, grants_access=looks_at_access) as ports:
            return await finder.find(ports, layers)

    return asyncio.run(find_all())


def _parse_rule(rule: DriftRule) -> dict[str, str]:
    return {
        "layer": rule.layer,
        "subject": rule.subject,
        "key": rule.field,
        "until": rule.until,
        "reason": rule.reason,
    }
