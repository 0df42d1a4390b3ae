"""Drifts as people read them: a row each, or everything about each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stockman.cli.paint import visible
from stockman.cli.screen import Screen
from stockman.cli.tables import Cell, table

if TYPE_CHECKING:
    from stockman.app.drift.finding import Author, Drift, Value
    from stockman.app.drift.report import Ignored, Report

_MOST = 3
_STYLES = {"critical": "error", "warning": "warning", "notice": "faint"}


def summary(report: Report) -> str:
    """All layers in a line."""
    states = ", ".join(f"{layer} {state}" for layer, state in report.states.items())
    ignored = f"; {len(report.ignored)} ignored" if report.ignored else ""
    found = f"{len(report.drifts)} drifts" if len(report.drifts) != 1 else "1 drift"
    none = "no drift in what could be read" if report.unknown else "no drift"
    return f"{found if report.drifts else none}{ignored}: {states}"


def listed(report: Report, screen: Screen) -> Iterator[str]:
    """A row for each drift, and the commands that correct them."""
    if report.drifts:
        headers = ("LAYER", "SEVERITY", "WHAT", "BY")
        rows = (
            (
                Cell(one.layer.value, "name"),
                Cell(one.severity.value, _STYLES[one.severity.value]),
                _what(one),
                one.author.who or "unknown",
            )
            for one in report.drifts
        )
        yield from table(headers, rows, width=screen.width, paint=screen.paint)
        yield ""
        yield screen.paint("To correct it:", "heading")
        yield from (f"  {one}" for one in _commands(report.drifts))
    yield from _ignored(report.ignored)


def _what(drift: Drift) -> str:
    told = [f"{one.key}: {_sides(one)}" for one in drift.values[:_MOST]]
    more = [f"and {len(drift.values) - _MOST} more"] if len(drift.values) > _MOST else []
    return "; ".join(filter(None, [drift.what, *told, *more] if told else [drift.what, drift.why]))


def _sides(value: Value) -> str:
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


def explained(report: Report, screen: Screen) -> Iterator[str]:
    """Everything about each drift, one below the other."""
    for number, one in enumerate(report.drifts):
        if number:
            yield ""
        grade = screen.paint(one.severity.value, _STYLES[one.severity.value])
        yield f"{screen.paint(one.layer.value, 'name')} {grade}: {visible(one.what)}"
        if one.why:
            yield f"  why: {visible(one.why)}"
        yield from (f"  {visible(each.key)}: {visible(_sides(each))}" for each in one.values)
        yield from (f"  {visible(line)}" for line in one.details)
        yield f"  by: {visible(_by(one.author))}"
        yield from _correction(one)
    yield from _ignored(report.ignored)


def _by(author: Author) -> str:
    if not author.is_known:
        return f"unknown ({author.how})" if author.how else "unknown"
    when = f" at {author.when:%Y-%m-%d %H:%M:%S}" if author.when is not None else ""
    return f"{author.who}{when} ({author.how})"


def _correction(drift: Drift) -> Iterator[str]:
    correction = drift.correction
    if correction.command:
        yield f"  correct: {visible(correction.command)}"
    for step in correction.steps:
        yield f"    {step.id}: {visible(step.summary)}"
    if correction.stopped_by:
        yield f"    but first: {visible(correction.stopped_by)}"


def _ignored(ignored: Iterable[Ignored]) -> Iterator[str]:
    for one in ignored:
        yield f"ignored until {one.until}: {visible(_what(one.drift))} ({visible(one.reason)})"
