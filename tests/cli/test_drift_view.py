"""Drifts as people read them."""

from __future__ import annotations

import io
from datetime import UTC, date, datetime

from stockman.assessment.drift.report import (
    Author,
    Correction,
    CorrectionStep,
    Drift,
    DriftReport,
    DriftSeverity,
    DriftValue,
    Gap,
    IgnoredDrift,
    Layer,
    unreadable_part,
)
from stockman.cli.drift import LAYERS, drift_details, drift_table, summary
from stockman.cli.terminal.screen import Screen

SCREEN = Screen(None, io.StringIO(), io.StringIO(), {})
MEMORY = Drift(
    layer=Layer.VMS,
    subject="work-1",
    description="VM 7 (work-1) differs",
    values=(
        DriftValue(key="memory", observed="2", desired="1"),
        DriftValue(key="net1", observed="x", desired=None),
    ),
    author=Author(
        name="mary@pve", when=datetime(2026, 8, 1, 12, tzinfo=UTC), how="task qmconfig on pve1"
    ),
    correction=Correction(
        steps=(CorrectionStep(id="vms/configure/work-1", summary="change memory of VM 7"),),
        command="stockman apply --only vms --node work-1",
    ),
)
FILE = Drift(
    layer=Layer.TREE,
    subject="a.yaml",
    description="a.yaml was changed by hand",
    why="somebody was there",
    details=("-  a: 1", "+  a: \x1b[31m2"),
    author=Author(how="it is not committed"),
    severity=DriftSeverity.NOTICE,
    correction=Correction(command="stockman render --overwrite a.yaml"),
)
REPORT = DriftReport(
    today=date(2026, 8, 1),
    layers=(Layer.VMS, Layer.TREE, Layer.TALOS),
    drifts=(MEMORY, FILE),
    unknown=(Gap(layer=Layer.TALOS, subject="cp-1", problem=unreadable_part("cp-1", "no answer")),),
    ignored=(IgnoredDrift(drift=MEMORY, reason="an import", until="2026-09-01"),),
)


def test_every_drift_is_a_row_with_its_author_and_corrections_follow() -> None:
    lines = list(drift_table(REPORT, SCREEN))

    assert lines[0].split() == ["LAYER", "SEVERITY", "DIFFERENCE", "AUTHOR"]
    assert lines[1].split(maxsplit=2)[:2] == ["vms", "warning"]
    assert "memory: 2 -> 1; net1: x -> should not exist" in lines[1]
    assert lines[1].endswith("mary@pve")
    assert lines[2].endswith("unknown")
    assert lines[3:] == [
        "",
        "To correct it:",
        "  stockman apply",
        "  stockman render --overwrite a.yaml",
        (
            "ignored until 2026-09-01: VM 7 (work-1) differs; memory: 2 -> 1;"
            " net1: x -> should not exist (an import)"
        ),
    ]


def test_explained_drifts_tell_values_author_and_steps_and_nothing_steers_the_terminal() -> None:
    lines = list(drift_details(REPORT, SCREEN))

    assert lines[:7] == [
        "vms warning: VM 7 (work-1) differs",
        "  memory: 2 -> 1",
        "  net1: x -> should not exist",
        "  by: mary@pve at 2026-08-01 12:00:00 (task qmconfig on pve1)",
        "  correct: stockman apply --only vms --node work-1",
        "    vms/configure/work-1: change memory of VM 7",
        "",
    ]
    assert "  why: somebody was there" in lines
    assert "  by: unknown (it is not committed)" in lines
    assert "\x1b" not in "".join(lines)


def test_the_summary_names_the_state_of_every_layer() -> None:
    assert summary(REPORT) == "2 drifts; 1 ignored: vms drift, tree drift, talos unknown"
    nothing = DriftReport(today=REPORT.today, layers=(Layer.VMS,))
    assert summary(nothing) == "no drift: vms same"
    silent = Gap(layer=Layer.VMS, subject="pve", problem=unreadable_part("pve", "no answer"))
    unread_alone = DriftReport(today=REPORT.today, layers=(Layer.VMS,), unknown=(silent,))
    assert summary(unread_alone) == "no drift in the layers that could be read: vms unknown"


def test_the_option_offers_every_layer() -> None:
    assert tuple(one.value for one in Layer) == LAYERS
