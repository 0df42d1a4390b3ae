"""Everything of tests/acceptance at full length: all pairs of versions, all kill points, all seeds.

`ARGS='-k seeds -n auto'` narrows, on all cores; STOCKMAN_SEEDS=FIRST:COUNT tells other stories
than the first 10,000.
"""

from __future__ import annotations

import os
import shutil
from itertools import product
from pathlib import Path

import pytest

from tests.acceptance.chain import run_chain
from tests.acceptance.fingerprint import fingerprint
from tests.acceptance.killed_runs import WAYS, flaws_in_the_end, flaws_soon, points_of
from tests.acceptance.kills import groups
from tests.acceptance.lab_log import done_with_effect
from tests.acceptance.reference import (
    Reference,
    bootstrap_reference,
    reference,
    restart_reference,
    scale_up_reference,
)
from tests.acceptance.scene import Scene, Versions
from tests.acceptance.seeds import story

PAIRS = [
    Versions(*one) for one in product(("1.11.5", "1.12.3", "1.13.9", "1.14.1"), ("8.4", "9.1"))
]
PARTS, FEWER_PARTS = 25, 4
"""How many tests share the points of a run: worlds of one part are kept in memory at once."""
FIRST, COUNT = (
    int(stockman_seed)
    for stockman_seed in os.environ.get("STOCKMAN_SEEDS", "1000:10000").split(":")
)
STORIES = 50
"""How many seeds make one test."""


@pytest.mark.parametrize("versions", PAIRS, ids=str)
def test_every_pair_of_versions_comes_up_and_stays_as_it_is(
    versions: Versions, tmp_path: Path
) -> None:
    scene = bootstrap_reference(versions).scene(tmp_path)

    again = scene.apply()

    assert again.planned is not None
    assert again.planned.plan.steps == ()
    assert {write.system for write in again.process.writes} <= {"journal", "lock"}


def test_a_restart_for_hardware_that_is_killed_at_every_moment_comes_to_the_same_end(
    tmp_path: Path,
) -> None:
    found = run_chain(reference().rework, restart_reference(), tmp_path)

    assert found.flaws == []
    assert found.missed == []
    assert found.lives > found.moments > 50


@pytest.mark.parametrize("part", range(PARTS))
def test_every_kill_point_of_a_bootstrap_in_both_ways(part: int, tmp_path: Path) -> None:
    whole = reference()
    once = done_with_effect(whole.scene(tmp_path / "whole").world)
    numbers = range(1, whole.life.process.passed + 1)[part::PARTS]
    scene = Scene.made(tmp_path / "scene")
    flaws: list[str] = []
    for point, how in product(points_of(scene, numbers, scene.apply), WAYS):
        root = tmp_path / "killed"
        flaws += flaws_soon(point, how, once, root)
        shutil.rmtree(root)

    assert flaws == []


@pytest.mark.parametrize("part", range(FEWER_PARTS))
@pytest.mark.parametrize("scenario", ["bootstrap", "scale-up"])
def test_every_group_of_kill_points_leads_to_the_same_end(
    scenario: str, part: int, tmp_path: Path
) -> None:
    is_first = scenario == "bootstrap"
    whole: Reference = reference() if is_first else scale_up_reference()
    world = whole.scene(tmp_path / "whole").world
    once, end = done_with_effect(world), fingerprint(world)
    numbers = groups(whole.life.process)[part::FEWER_PARTS]
    scene = Scene.made(tmp_path / "scene") if is_first else reference().grown(tmp_path / "scene")
    flaws: list[str] = []
    for point, how in product(points_of(scene, numbers, scene.apply), WAYS):
        root = tmp_path / "killed"
        flaws += flaws_in_the_end(point, how, end, once, root)
        shutil.rmtree(root)

    assert flaws == []


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, STORIES))
def test_whatever_ten_thousand_seeds_tell_ends_well(first: int, tmp_path: Path) -> None:
    broken: list[str] = []
    for seed in range(first, min(first + STORIES, FIRST + COUNT)):
        told = story(seed, tmp_path / "story", is_long=True)
        shutil.rmtree(tmp_path / "story", ignore_errors=True)
        if told.flaws:
            broken.append(f"{told.replay}: {told.flaws}")

    assert broken == []
