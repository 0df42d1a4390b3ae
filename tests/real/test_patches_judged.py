"""Talos' own programs judge patches: `talosctl machineconfig patch`, and the library behind it."""

from pathlib import Path

import pytest

from scripts.write_patch_types import PLACE, VERSIONS, table, text_of
from stockman.talos.patches.schema import MINORS
from tests.talos.patches.judge import (
    LIBRARY,
    TALOSCTL,
    pairs,
    patched_by_library,
    patched_by_talosctl,
)
from tests.talos.patches.verdict import disagreement
from tools.pytest_plugin import RealTool

COUNT = 25
IN_ONE_GO = 100


@pytest.mark.parametrize("minor", MINORS)
def test_tables_are_what_the_library_says(minor: str, real_tool: RealTool) -> None:
    program = real_tool(f"check-patches@{VERSIONS[minor]}")

    assert text_of(table(program)) == (PLACE / f"{minor}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("minor", MINORS)
def test_talosctl_and_stockman_agree(minor: str, real_tool: RealTool, tmp_path: Path) -> None:
    talosctl = real_tool(f"talosctl@{TALOSCTL[minor]}")
    newer = real_tool(f"check-patches@{LIBRARY[minor]}")

    texts = [
        text
        for pair in pairs(minor, COUNT, "real")
        if (text := disagreement(pair, minor, patched_by_talosctl(talosctl, pair, tmp_path)))
        # What talosctl 1.12.1 refuses, the library of a later 1.12 may take.
        and disagreement(pair, minor, patched_by_library(newer, [pair])[0])
    ]

    assert texts == []


@pytest.mark.parametrize("minor", MINORS)
def test_the_library_and_stockman_agree(minor: str, real_tool: RealTool) -> None:
    drawn = pairs(minor, IN_ONE_GO, "library")

    answers = patched_by_library(real_tool(f"check-patches@{LIBRARY[minor]}"), drawn)

    texts = [
        text
        for pair, answer in zip(drawn, answers, strict=True)
        if (text := disagreement(pair, minor, answer))
    ]
    assert texts == []
