"""Names of runs: they sort as the runs began, whatever clocks say."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from stockman.engine.lifecycle import start_run
from stockman.engine.runs import new_run_name, newest_run
from tests.engine.simulated import MORNING, Dice
from tests.engine.toys import Scene, make, plan_of, way


@pytest.mark.parametrize("seconds", [0, -5])
def test_a_run_of_the_same_second_or_by_a_slow_clock_sorts_after_the_one_before(
    seconds: int,
) -> None:
    first = new_run_name(MORNING, Dice("first"))

    later = [
        new_run_name(MORNING + timedelta(seconds=seconds), Dice(seed), after=first)
        for seed in range(9)
    ]

    assert min(later) > first


def test_a_run_that_begins_later_is_named_by_its_own_moment() -> None:
    first = new_run_name(MORNING, Dice("first"))
    moment = MORNING + timedelta(hours=1)

    assert new_run_name(moment, Dice(1), after=first) == new_run_name(moment, Dice(1))


def test_a_directory_with_another_name_is_no_run_to_come_after() -> None:
    run = new_run_name(MORNING, Dice())

    assert newest_run([run, "zzz"]) == run
    assert newest_run(["zzz"]) == ""


def test_runs_that_begin_in_the_same_second_are_listed_in_their_order() -> None:
    scene = Scene()
    begun = []
    for name in "abcdef":
        home, ports = scene.process()
        outcome = asyncio.run(start_run(home, plan_of(make(name)), ports, way()))
        begun.append(outcome.state.run)

    home, _ = scene.process()

    assert asyncio.run(home.runs.list_runs()) == tuple(begun)
