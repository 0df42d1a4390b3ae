"""What `apply` does before and beside its plan."""

from __future__ import annotations

import asyncio

from stockman.app.runs.apply import is_left_open
from stockman.engine.lifecycle import abort_run, start_run
from stockman.model.errors import Refused
from tests.engine.storage import times
from tests.engine.toys import Scene, make, plan_of, way


def is_open(scene: Scene) -> bool:
    home, _ = scene.process()
    return asyncio.run(is_left_open(home, scene.clock))


def test_before_the_first_run_nothing_is_left_open() -> None:
    assert not is_open(Scene())


def test_a_run_that_is_done_is_not_left_open() -> None:
    scene = Scene()
    home, ports = scene.process()

    asyncio.run(start_run(home, plan_of(make("a")), ports, way()))

    assert not is_open(scene)


def test_a_run_that_failed_is_left_open_until_somebody_gives_it_up() -> None:
    scene = Scene()
    home, ports = scene.process()
    scene.objects.troubles.append(times(Refused, "put", 1))
    failed = asyncio.run(start_run(home, plan_of(make("a")), ports, way()))
    assert is_open(scene)

    home, ports = scene.process()
    asyncio.run(abort_run(home, failed.state.run, ports, way()))

    assert not is_open(scene)
