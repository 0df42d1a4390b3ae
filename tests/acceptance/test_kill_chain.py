"""A run is killed at every moment it has, one life after the other, and comes to the same end."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.chain import run_chain
from tests.acceptance.reference import reference, scale_up_reference
from tests.acceptance.scene import Scene


def test_a_bootstrap_that_is_killed_at_every_moment_comes_to_the_same_end(tmp_path: Path) -> None:
    found = run_chain(Scene.made, reference(), tmp_path)

    assert found.missed == []
    assert found.flaws == []
    assert found.lives > found.moments > 380


def test_a_scale_up_that_is_killed_at_every_moment_comes_to_the_same_end(tmp_path: Path) -> None:
    found = run_chain(reference().grown, scale_up_reference(), tmp_path)

    assert found.missed == []
    assert found.flaws == []
    assert found.lives > found.moments > 100
