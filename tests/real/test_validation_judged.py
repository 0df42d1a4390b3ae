"""Talos' own programs judge validation: `talosctl validate`, and the library behind it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts.write_validation_types import PLACE, VERSIONS, text_of
from stockman.talos.patches.schema import MINORS
from stockman.talos.validation.report import RuntimeMode
from tests.talos.validation.bad import Bad, bad
from tests.talos.validation.judge import (
    LIBRARY,
    TALOSCTL,
    Case,
    by_library,
    by_talosctl,
    ours,
)
from tests.talos.validation.mutations import cases, starts
from tests.talos.validation.mutations import text_of as written
from tools.pytest_plugin import RealTool

AT_ONCE = 2
DRAWN = 120


@pytest.mark.parametrize("minor", MINORS)
def test_tables_are_what_the_library_says(minor: str, real_tool: RealTool) -> None:
    program = real_tool(f"check-validation@{VERSIONS[minor]}")

    assert text_of(program) == (PLACE / f"{minor}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("minor", MINORS)
def test_talosctl_refuses_every_bad_configuration(
    minor: str, real_tool: RealTool, tmp_path: Path
) -> None:
    talosctl = real_tool(f"talosctl@{TALOSCTL[minor]}")
    relevant = [one for one in bad() if minor in one.refused]

    def accepted(one: Bad) -> str:
        place = tmp_path / str(relevant.index(one))
        place.mkdir()
        verdict = by_talosctl(talosctl, one.case, place)
        return one.name if verdict.accepted or "is valid" in verdict.said else ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        taken = [name for name in pool.map(accepted, relevant) if name]

    assert taken == []


@pytest.mark.parametrize("minor", MINORS)
def test_the_library_agrees_on_bad_ones_in_both_modes(minor: str, real_tool: RealTool) -> None:
    asked = [
        Case(one.case.text, mode, one.case.strict)
        for one in bad()
        if minor in one.judged
        for mode in RuntimeMode
    ]

    assert disagreements(minor, asked, real_tool) == []


@pytest.mark.parametrize("minor", MINORS)
def test_the_library_agrees_on_good_ones_and_on_changed_ones(
    minor: str, real_tool: RealTool
) -> None:
    texts = dict.fromkeys(written(start) for start in starts(minor))
    good = [Case(text, mode, True) for text in texts for mode in RuntimeMode]

    assert disagreements(minor, [*good, *cases(minor, DRAWN, "real")], real_tool) == []


def disagreements(minor: str, asked: list[Case], real_tool: RealTool) -> list[str]:
    """What one side takes and the other refuses, or warns of."""
    judged = by_library(real_tool(f"check-validation@{LIBRARY[minor]}"), asked)
    found = []
    for case, theirs in zip(asked, judged, strict=True):
        verdict = ours(case, minor)
        same = verdict.accepted == theirs.accepted
        if not same or (verdict.accepted and verdict.warnings != theirs.warnings):
            found.append(f"{theirs.said or 'taken'} | {verdict.said or 'taken'}\n{case.text}")
    return found
