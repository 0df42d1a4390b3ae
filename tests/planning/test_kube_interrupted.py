"""Actions whose process dies between two calls: the next run finishes, and does nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from stockman.lab.doors.kube_port import memory_kubernetes
from stockman.steps.kube_release import release
from stockman.steps.step import Step
from tests.planning.bootstrapped import Bootstrapped, Killed, Workspace, bootstrapped
from tests.planning.test_kube_stage import leftovers

FIRST = 3
LAST = 3


def killed_after(found: Bootstrapped, calls: int, step: Step) -> bool:
    """Perform a step whose process dies after so many calls; False: it was done before that."""
    found.door.left = calls
    try:
        asyncio.run(found.perform(step))
    except Killed:
        return True
    finally:
        found.door.left = None
    return False


def calls_of(found: Bootstrapped, step: Step) -> int:
    before = len(found.door.calls)
    asyncio.run(found.perform(step))
    return len(found.door.calls) - before


def named(name: str) -> Callable[[Bootstrapped], Step]:
    return lambda found: next(one for one in found.steps() if one.id == name)


@pytest.mark.parametrize(
    "name",
    [
        "kubernetes/namespace/flux-system",
        "kubernetes/definitions/gateway-api",
    ],
)
def test_small_actions_are_finished_by_the_next_run(followed: Workspace, name: str) -> None:
    step = named(name)(bootstrapped(followed))
    total = calls_of(bootstrapped(followed), step)

    for calls in range(total):
        found = bootstrapped(followed)
        assert killed_after(found, calls, step)
        asyncio.run(found.perform(step))
        assert asyncio.run(step.action.done(found.ports))


def test_an_install_is_finished_by_the_next_run_and_made_once(followed: Workspace) -> None:
    step = named("kubernetes/install/cilium")(bootstrapped(followed))
    total = calls_of(bootstrapped(followed), step)

    for calls in (*range(FIRST), *range(total - LAST, total)):
        found = bootstrapped(followed)
        assert killed_after(found, calls, step)
        asyncio.run(found.perform(step))
        made = asyncio.run(release(memory_kubernetes(found.cluster.api), "cilium", "kube-system"))
        assert made is not None
        assert (made.revision, made.status) == (1, "deployed"), calls
        assert leftovers(found) == [], calls
