"""What has to be true after a run was killed and somebody went on, at any of its points.

`make test` tries a sample of the points; `make soak` tries all of them, in both ways.
"""

from __future__ import annotations

import random  # noqa: TID251  # the same sample each time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from stockman.engine.state import RunResult
from tests.acceptance.fingerprint import difference, fingerprint
from tests.acceptance.kills import KillPoint, kill_points, mend
from tests.acceptance.lab_log import done_with_effect
from tests.acceptance.process import Process
from tests.acceptance.scene import Life, Scene

WAYS = ("apply", "resume")
_WAITS = (
    *("talos/await/", "talos/seed/", "talos/joined/", "nodes/ready/"),
    *("kubernetes/wait/", "kubernetes/push", "kubernetes/reconcile/"),
)
"""Steps that only wait, look whether an image is in its drive, or ask Flux to reconcile."""


def sample(points: Iterable[int], count: int, seed: int) -> list[int]:
    """So many of the points, spread over all of them, by a seed."""
    every = list(points)
    if count >= len(every):
        return every
    dice, width = random.Random(seed), len(every) / count  # no secret
    return [every[int((number + dice.random()) * width)] for number in range(count)]


def ways_of(number: int, *, both: bool) -> tuple[str, ...]:
    """How to go on after the kill of a number: alternately, or in both ways."""
    return WAYS if both else (WAYS[number % 2],)


def flaws_soon(point: KillPoint, how: str, once: Counter[str], root: Path) -> Iterator[str]:
    """What is wrong once everything is finished that was under way."""
    scene, life, until = mend(point, how, root)
    told = f"killed at {point.number} ({point.name}), then {how}"
    assert life.outcome is not None, told
    if life.outcome.result not in (RunResult.DONE, RunResult.PAUSED):
        yield f"{told}: {life.outcome.result.value}, {[*map(str, life.outcome.problems)]}"
    if until.left:
        yield f"{told}: {until.left} is left"
    yield from twice(told, scene, once)
    again = [step.id for step in scene.plan().plan.steps if step.id in until.finished]
    again = [name for name in again if not name.startswith(_WAITS)]
    if again:
        yield f"{told}: {again} would be done again"


def flaws_in_the_end(
    point: KillPoint, how: str, end: dict[str, str], once: Counter[str], root: Path
) -> Iterator[str]:
    """What is wrong once all is finished, compared with a run that nobody killed."""
    scene = point.snapshot.scene(root)
    life = scene.apply() if how == "apply" or point.is_over else scene.resume()
    told = f"killed at {point.number} ({point.name}), then {how}"
    assert life.outcome is not None, told
    if life.outcome.result is not RunResult.DONE:
        yield f"{told}: {life.outcome.result.value}, {[*map(str, life.outcome.problems)]}"
    yield from (f"{told}: {one}" for one in difference(end, fingerprint(scene.world)))
    yield from twice(told, scene, once)


def twice(told: str, scene: Scene, once: Counter[str]) -> Iterator[str]:
    """What was done more often than in a run that nobody killed."""
    for name, count in done_with_effect(scene.world).items():
        if count > once[name]:
            yield f"{told}: {name} was done {count} times"


def points_of(
    scene: Scene, wanted: Iterable[int], live: Callable[[Process], Life]
) -> list[KillPoint]:
    """What is found after kills at the points of these numbers."""
    numbers = frozenset(wanted)
    return kill_points(scene, lambda number, side, call: number in numbers, live)[0]
