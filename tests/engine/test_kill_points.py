"""A process may be killed at any moment: the next one finishes, and does nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from stockman.engine.journal import open_journal
from stockman.engine.lifecycle import abort_run, resume_run, start_run
from stockman.engine.state import RunResult, RunState, fold_entries
from tests.engine.storage import Bomb, Killed
from tests.engine.toys import Exists, Flag, Scene, make, plan_of, way

PLAN = plan_of(
    make("a", holds=(Flag(name="red"),)),
    make("b", "a", holds=(Flag(name="red"), Flag(name="blue"))),
    make("c", "a", gates=(Exists(key="a"),)),
    make("d", "b", "c", gates=(Exists(key="b"), Exists(key="c"))),
)
FINISHED = {
    "flag/red": "up",
    "flag/blue": "half",
    "a": "made",
    "b": "made",
    "c": "made",
    "d": "made",
}


async def first(scene: Scene, bomb: Bomb) -> None:
    home, ports = scene.process(bomb)
    await start_run(home, PLAN, ports, way())


async def states(scene: Scene) -> list[RunState]:
    home, ports = scene.process()
    return [
        fold_entries(run, (await open_journal(await home.runs.lines(run), ports.clock)).entries)
        for run in await home.runs.list_runs()
    ]


async def resumed(scene: Scene) -> None:
    home, ports = scene.process()
    runs = await home.runs.list_runs()
    known = await states(scene)
    if not runs:
        await start_run(home, PLAN, ports, way())
    elif known[-1].result is not RunResult.DONE:
        await resume_run(home, runs[-1], ports, way())


async def applied_again(scene: Scene) -> None:
    home, ports = scene.process()
    await start_run(home, PLAN, ports, way())


async def given_up(scene: Scene) -> None:
    home, ports = scene.process()
    known = await states(scene)
    if known and known[-1].result is not RunResult.DONE:
        await abort_run(home, known[-1].run, ports, way())


def points() -> int:
    bomb = Bomb()
    asyncio.run(first(Scene(), bomb))
    return bomb.passed


POINTS = points()


def killed_at(point: int, then: Callable[[Scene], Awaitable[None]]) -> Scene:
    scene = Scene()

    async def story() -> None:
        with pytest.raises(Killed):
            await first(scene, Bomb(point))

    async def afterwards() -> None:
        scene.clock.jump(120)
        await then(scene)

    asyncio.run(story())
    asyncio.run(afterwards())
    return scene


def test_there_are_enough_moments_to_be_killed_at() -> None:
    assert POINTS > 100


@pytest.mark.parametrize("then", [resumed, applied_again])
def test_whoever_goes_on_finishes_and_nothing_is_done_twice(
    then: Callable[[Scene], Awaitable[None]],
) -> None:
    for point in range(1, POINTS + 1):
        scene = killed_at(point, then)

        assert scene.made == FINISHED, point
        writes = {key: scene.world.writes[key] for key in "abcd"}
        assert writes == {"a": 1, "b": 1, "c": 1, "d": 1}, point
        known = asyncio.run(states(scene))
        assert known[-1].result is RunResult.DONE, point
        assert not any(state.held for state in known), point


def test_a_run_that_is_given_up_gives_everything_back() -> None:
    for point in range(1, POINTS + 1):
        scene = killed_at(point, given_up)

        flags = {key: text for key, text in scene.made.items() if key.startswith("flag/")}
        assert flags == {"flag/red": "up", "flag/blue": "half"}, point
        known = asyncio.run(states(scene))
        assert not any(state.held for state in known), point
        assert all(state.result in (RunResult.DONE, RunResult.ABORTED) for state in known), point


def test_a_second_run_of_a_finished_plan_writes_nothing_into_the_world() -> None:
    scene = Scene()
    asyncio.run(first(scene, Bomb()))
    before = scene.world.writes.copy()

    asyncio.run(applied_again(scene))

    assert scene.world.writes == before
