"""A process may be killed at any moment: the next one finishes, and does nothing twice.

Here is a sample of points, each in a world of its own with one kill. `test_kill_chain.py` has every
moment in one world, and `tests/soak/test_acceptance.py` every point in a world of its own.
"""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.fingerprint import fingerprint
from tests.acceptance.killed_runs import (
    flaws_in_the_end,
    flaws_soon,
    points_of,
    sample,
    ways_of,
)
from tests.acceptance.kills import groups
from tests.acceptance.lab_log import done_with_effect
from tests.acceptance.reference import reference, scale_up_reference
from tests.acceptance.scene import Scene

SEED = 2026
BOOTSTRAP, SCALE_UP = 8, 3
"""How many points are tried."""


def test_there_are_enough_moments_to_be_killed_at() -> None:
    process = reference().life.process

    assert process.passed > 2000
    assert len(groups(process)) > 250


def test_a_bootstrap_that_was_killed_goes_on_and_does_nothing_twice(tmp_path: Path) -> None:
    whole = reference()
    wanted = sample(groups(whole.life.process), BOOTSTRAP, SEED)
    once = done_with_effect(whole.scene(tmp_path / "whole").world)
    scene = Scene.made(tmp_path / "killed")

    flaws = [
        flaw
        for number, point in enumerate(points_of(scene, wanted, scene.apply))
        for how in ways_of(number, both=False)
        for flaw in flaws_soon(point, how, once, tmp_path / f"{number}-{how}")
    ]

    assert flaws == []


def test_a_scale_up_that_was_killed_comes_to_the_same_end(tmp_path: Path) -> None:
    whole = scale_up_reference()
    wanted = sample(groups(whole.life.process), SCALE_UP, SEED)
    world = whole.scene(tmp_path / "whole").world
    once, end = done_with_effect(world), fingerprint(world)
    scene = reference().grown(tmp_path / "killed")

    flaws = [
        flaw
        for number, point in enumerate(points_of(scene, wanted, scene.apply))
        for how in ways_of(number, both=False)
        for flaw in flaws_in_the_end(point, how, end, once, tmp_path / f"{number}-{how}")
    ]

    assert flaws == []
