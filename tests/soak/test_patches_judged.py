"""`talosctl machineconfig patch` of every minor and stockman agree on hundreds of pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.talos.patches.schema import MINORS
from tests.talos.patches.judge import (
    LIBRARY,
    TALOSCTL,
    pairs,
    patched_by_library,
    patched_by_talosctl,
)
from tests.talos.patches.vectors import vectors
from tests.talos.patches.verdict import disagreement
from tools.provide import Provider

COUNT = 300


@pytest.mark.parametrize("minor", MINORS)
def test_talosctl_and_stockman_agree_on_many_pairs(minor: str, tmp_path: Path) -> None:
    talosctl = Provider().path(f"talosctl@{TALOSCTL[minor]}")
    newer = Provider().path(f"check-patches@{LIBRARY[minor]}")

    texts = [
        text
        for pair in pairs(minor, COUNT, "soak")
        if (text := disagreement(pair, minor, patched_by_talosctl(talosctl, pair, tmp_path)))
        # What talosctl 1.12.1 refuses, the library of a later 1.12 may take.
        and disagreement(pair, minor, patched_by_library(newer, [pair])[0])
    ]

    assert texts == []


@pytest.mark.parametrize("minor", MINORS)
def test_vectors_are_what_talosctl_says(minor: str, tmp_path: Path) -> None:
    talosctl = Provider().path(f"talosctl@{TALOSCTL[minor]}")

    for vector in vectors():
        if vector.minor == minor:
            assert patched_by_talosctl(talosctl, vector.pair, tmp_path) == vector.text
