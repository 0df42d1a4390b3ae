"""Actions whose process dies between two calls: the next run finishes, and does nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from stockman_lab.servers.kube_port import memory_kubernetes

from stockman.planning.change import ChangeKind
from stockman.steps.kubernetes.objects import ROLE_BINDINGS, apply_object, with_owner_labels
from stockman.steps.kubernetes.releases import find_release
from stockman.steps.kubernetes.smoke_test import PENDING
from stockman.steps.step import Step
from tests.planning.bootstrapped import Bootstrapped, Killed, Workspace, bootstrapped
from tests.planning.test_kube_stage import leftovers

ADMIN = {"apiGroup": ROLE_BINDINGS.group, "kind": "ClusterRole", "name": "cluster-admin"}
FIRST = 3
LAST = 3


def killed_after(cluster: Bootstrapped, calls: int, step: Step) -> bool:
    """Perform a step whose process dies after so many calls; False: it was done before that."""
    cluster.door.left = calls
    try:
        asyncio.run(cluster.perform(step))
    except Killed:
        return True
    finally:
        cluster.door.left = None
    return False


def calls_of(cluster: Bootstrapped, step: Step) -> int:
    before = len(cluster.door.calls)
    asyncio.run(cluster.perform(step))
    return len(cluster.door.calls) - before


def named(name: str) -> Callable[[Bootstrapped], Step]:
    return lambda found: next(step for step in found.steps() if step.id == name)


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
        cluster = bootstrapped(followed)
        assert killed_after(cluster, calls, step)
        asyncio.run(cluster.perform(step))
        assert asyncio.run(step.action.done(cluster.ports))


def test_an_install_is_finished_by_the_next_run_and_made_once(followed: Workspace) -> None:
    step = named("kubernetes/install/cilium")(bootstrapped(followed))
    total = calls_of(bootstrapped(followed), step)

    for calls in (*range(FIRST), *range(total - LAST, total)):
        cluster = bootstrapped(followed)
        assert killed_after(cluster, calls, step)
        asyncio.run(cluster.perform(step))
        release = asyncio.run(
            find_release(memory_kubernetes(cluster.cluster.api), "cilium", "kube-system")
        )
        assert release is not None
        assert (release.revision, release.status) == (1, "deployed"), calls
        assert leftovers(cluster) == [], calls


def test_what_a_killed_install_left_is_removed_by_a_new_plan(followed: Workspace) -> None:
    cluster = bootstrapped(followed)
    cluster.apply()
    binding = with_owner_labels(
        ROLE_BINDINGS, "stockman-install-cilium", roleRef=ADMIN, subjects=[]
    )
    asyncio.run(apply_object(memory_kubernetes(cluster.cluster.api), ROLE_BINDINGS, binding))
    assert leftovers(cluster) == ["stockman-install-cilium"]

    change = cluster.changes()[0]
    cluster.apply()

    assert (change.id, change.mark) == ("kubernetes/install/cilium", ChangeKind.REMOVE)
    assert change.why == "an interrupted run left its installer"
    assert leftovers(cluster) == []
    release = asyncio.run(
        find_release(memory_kubernetes(cluster.cluster.api), "cilium", "kube-system")
    )
    assert release is not None
    assert release.revision == 1
    assert cluster.changes() == ()


def test_components_that_were_not_tested_yet_are_tested_by_a_new_plan(followed: Workspace) -> None:
    cluster = bootstrapped(followed)
    cluster.apply(until="kubernetes/test/cilium")
    tested = ("cilium", "coredns", "cert-manager", "flux-instance")
    assert cluster.look().smoke_tests == dict.fromkeys(tested, PENDING)

    ids = [change.id for change in cluster.changes()]

    assert ids == [f"kubernetes/test/{name}" for name in tested]
