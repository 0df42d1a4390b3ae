"""Smoke tests on demand, in a cluster in memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from lab.tests.kube.helm.installing import Installing
from stockman.app.runs.history import local_run_store
from stockman.app.status.smoke_tests import choose_smoke_tests, run_smoke_tests
from stockman.engine.lock import LockHolder
from stockman.model.errors import Locked, WrongUsage
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.steps.kubernetes.smoke_test import RunSmokeTest
from tests.steps.kube_cluster import ports_of
from tests.steps.test_kube_flux import DEPLOYMENTS, smoke_test, wanted


def named(component: str, waits_for: str) -> RunSmokeTest:
    return replace(smoke_test(wanted(waits_for), name=component), component=component)


DESIRED = DesiredKubernetes(
    branch="main",
    namespaces=(),
    definitions=(),
    secrets=(),
    charts=(),
    followed=(),
    smoke_tests=(named("a", "a"), named("b", "missing")),
)


def test_each_test_has_its_own_result_and_leaves_nothing(tmp_path: Path) -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)
    home = local_run_store(tmp_path, ports.clock)

    passed, failed = asyncio.run(
        run_smoke_tests(home, ports, choose_smoke_tests(DESIRED), "a test")
    )

    assert (passed.component, passed.passed) == ("a", True)
    assert failed.problem is not None
    assert failed.problem.code == "kube.smoke-test-failed"
    assert failed.seconds >= 60
    cluster.settle()
    assert cluster.named(DEPLOYMENTS) == []
    assert asyncio.run(home.lock.held_by()) == ""


def test_nothing_is_tested_while_a_run_holds_the_lock(tmp_path: Path) -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)
    home = local_run_store(tmp_path, ports.clock)

    async def run_beside_another() -> None:
        await home.lock.acquire(LockHolder(name="somebody", run="r1", nonce="00"))
        await run_smoke_tests(home, ports, choose_smoke_tests(DESIRED, "a"), "a test")

    with pytest.raises(Locked):
        asyncio.run(run_beside_another())
    assert cluster.named(DEPLOYMENTS) == []


@pytest.mark.parametrize("desired", [DESIRED, None])
def test_a_component_without_a_test_is_refused(desired: DesiredKubernetes | None) -> None:
    with pytest.raises(WrongUsage) as caught:
        choose_smoke_tests(desired, "spegel")

    assert caught.value.problem.code == "health.no-smoke-test"
    assert caught.value.problem.why.endswith("a, b" if desired else "none")
