"""Durations are those of the table, follow from the seed, and can be changed for one machine."""

from __future__ import annotations

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.talos.state import Stage
from stockman_lab.talos.timings import SECONDS, throw
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, stage_of, staged

THROWS = 400
KNOWN = {
    "installer pulled": (("pull",), 10, 180),
    "written to the free slot": (("write",), 2, 20),
    "drained": (("drain",), 5, 300),
    "services stopped": (("stop",), 5, 60),
    "boot to the API by kexec": (("kexec", "kernel", "network", "boot"), 11, 60),
    "boot to the API through firmware": (("firmware", "kernel", "network"), 8, 90),
    "etcd settled": (("etcd",), 10, 60),
    "a learner promoted": (("promote",), 20, 120),
    "static pods": (("static-pods",), 20, 40),
    "applied, installed, rebooted": (
        ("install", "firmware", "kernel", "network", "boot"),
        27,
        150,
    ),
}
"""Steps that make up what is known, with the least and the most seconds of it."""


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_thrown_is_within_what_is_known(name: str) -> None:
    steps, least, most = KNOWN[name]
    dice = Dice(seed=7)
    sums = [sum(throw(step, dice) for step in steps) for _ in range(THROWS)]
    assert least <= min(sums)
    assert max(sums) <= most


@pytest.mark.parametrize("step", SECONDS)
def test_every_step_is_thrown_around_its_most_likely_value(step: str) -> None:
    low, mode, high = SECONDS[step]
    dice = Dice(seed=11)
    thrown = [throw(step, dice) for _ in range(THROWS)]
    assert low <= min(thrown) <= max(thrown) <= high
    middle = (low + mode + high) / 3
    assert sum(thrown) / THROWS == pytest.approx(middle, rel=0.1)


def test_the_same_seed_throws_the_same() -> None:
    def thrown(seed: int) -> list[float]:
        dice = Dice(seed=seed)
        return [throw(step, dice) for step in SECONDS for _ in range(5)]

    assert thrown(3) == thrown(3)
    assert thrown(3) != thrown(4)


def rebooted(world: World, **timings: float) -> float:
    """Seconds of the world's clock that a reboot takes."""
    result = machine(world)
    result.state.timings.update(timings)
    begun, booted = world.now, result.state.boot
    Asking(world, result).call("Reboot")
    while not result.state.boot > booted or stage_of(result) is not Stage.RUNNING:
        assert world.timeline.next_at is not None
        world.timeline.run_until(world.timeline.next_at)
    return world.now - begun


def test_the_clock_of_the_world_shows_how_long_it_took() -> None:
    assert 60 < rebooted(staged()) < 400


def test_one_machine_is_slower_in_all_that_it_does() -> None:
    usual = rebooted(staged())
    world = staged()
    machine(world).state.timings["*"] = 10.0
    assert 5 * usual < rebooted(world) < 25 * usual


def test_one_step_of_one_machine_is_slower() -> None:
    usual = rebooted(staged())
    assert rebooted(staged(), cri=50.0) > usual + 90
    assert rebooted(staged(), install=50.0) == pytest.approx(usual)


def test_slowness_outlasts_boots_and_saved_worlds() -> None:
    from stockman_lab.world.file import read_world, world_file

    world = staged()
    rebooted(world, etcd=3.0)
    again = World(read_world(world_file(world.state)))
    assert machine(again).state.timings == {"etcd": 3.0}
