"""Everything of tests/acceptance at full length: all pairs of versions, all kill points, all seeds.

`ARGS='-k seeds'` narrows; STOCKMAN_SEEDS=FIRST:COUNT tells other stories than the first 10,000.
"""

from __future__ import annotations

import os
import shutil
from itertools import product
from pathlib import Path

import pytest

from tests.acceptance.fingerprint import fingerprint
from tests.acceptance.killed_runs import WAYS, flaws_in_the_end, flaws_soon, points_of
from tests.acceptance.kills import groups
from tests.acceptance.lab_log import done_with_effect
from tests.acceptance.reference import Reference, bootstrapped, reference, scaled_up
from tests.acceptance.scene import Scene, Versions
from tests.acceptance.seeds import story

PAIRS = [
    Versions(*one) for one in product(("1.11.5", "1.12.3", "1.13.9", "1.14.1"), ("8.4", "9.1"))
]
BATCH = 100
"""Points whose worlds are kept in memory at once."""


@pytest.mark.parametrize("versions", PAIRS, ids=str)
def test_every_pair_of_versions_comes_up_and_stays_as_it_is(
    versions: Versions, tmp_path: Path
) -> None:
    scene = bootstrapped(versions).scene(tmp_path)

    again = scene.apply()

    assert again.planned is not None
    assert again.planned.plan.steps == ()
    assert {one.system for one in again.process.writes} <= {"journal", "lock"}


def test_every_kill_point_of_a_bootstrap_in_both_ways(tmp_path: Path) -> None:
    whole = reference()
    once = done_with_effect(whole.scene(tmp_path / "whole").world)
    numbers = range(1, whole.life.process.passed + 1)
    flaws: list[str] = []
    for begin in range(0, len(numbers), BATCH):
        scene = Scene.made(tmp_path / f"batch-{begin}")
        for point in points_of(scene, numbers[begin : begin + BATCH], scene.apply):
            for how in WAYS:
                root = tmp_path / "killed"
                flaws += flaws_soon(point, how, once, root)
                shutil.rmtree(root)

    assert flaws == []


@pytest.mark.parametrize("scenario", ["bootstrap", "scale-up"])
def test_every_group_of_kill_points_leads_to_the_same_end(scenario: str, tmp_path: Path) -> None:
    whole: Reference = reference() if scenario == "bootstrap" else scaled_up()
    world = whole.scene(tmp_path / "whole").world
    once, end = done_with_effect(world), fingerprint(world)
    numbers = groups(whole.life.process)
    flaws: list[str] = []
    for begin in range(0, len(numbers), BATCH):
        place = tmp_path / f"batch-{begin}"
        scene = Scene.made(place) if scenario == "bootstrap" else reference().grown(place)
        for point in points_of(scene, numbers[begin : begin + BATCH], scene.apply):
            for how in WAYS:
                root = tmp_path / "killed"
                flaws += flaws_in_the_end(point, how, end, once, root)
                shutil.rmtree(root)

    assert flaws == []


def test_ten_thousand_seeds(tmp_path: Path) -> None:
    first, _, count = os.environ.get("STOCKMAN_SEEDS", "1000:10000").partition(":")
    broken: list[str] = []
    for seed in range(int(first), int(first) + int(count)):
        told = story(seed, tmp_path / "story", is_long=True)
        shutil.rmtree(tmp_path / "story", ignore_errors=True)
        if told.flaws:
            broken.append(f"{told.replay}: {told.flaws}")
            print(broken[-1])  # seeds that fail are known before the last was tried

    assert broken == []
