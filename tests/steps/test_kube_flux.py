"""Requests to Flux, smoke tests and gates, in a cluster in which Flux runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from lab.tests.kube.flux.fluxed import Fluxed
from lab.tests.kube.helm.installing import Installing
from stockman.model.errors import Refused, Rejected
from stockman.steps.base import GateAnswer
from stockman.steps.kubernetes.flux import Reconcile
from stockman.steps.kubernetes.objects import (
    FLUX_INSTANCES,
    HELM_RELEASES,
    KUSTOMIZATIONS,
    MANAGED_BY,
    MANAGER,
)
from stockman.steps.kubernetes.readiness import ComponentReady, ObjectCondition
from stockman.steps.kubernetes.smoke_test import PENDING, RunSmokeTest
from tests.steps.kube_cluster import ports_of, web

RESULTS = "/api/v1/namespaces/kube-system/configmaps/stockman-smoke-tests"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
AVAILABLE = "object.status.conditions.exists(c, c.type == 'Available' && c.status == 'True')"


@pytest.fixture(scope="module")
def flux() -> Fluxed:
    cluster = Fluxed("n1")
    cluster.chart()
    cluster.release()
    return cluster


def wanted(name: str = "web", kind: str = "Deployment", api: str = "apps/v1") -> ObjectCondition:
    return ObjectCondition(
        api_version=api,
        kind=kind,
        name=name,
        expr=AVAILABLE,
        says=f"{name} is available",
        namespace="default",
    )


def smoke_test(*conditions: ObjectCondition, name: str = "web") -> RunSmokeTest:
    content: Any = {"apiVersion": "apps/v1", "kind": "Deployment", **web(1)}
    content["metadata"] = {"name": name, "namespace": "default"}
    return RunSmokeTest(
        component="web",
        version="1.0.0",
        says="a page is served",
        objects=(content,),
        until=conditions,
        seconds=60.0,
    )


def test_flux_looks_at_once_when_asked(flux: Fluxed) -> None:
    reconcile = Reconcile(of=HELM_RELEASES, namespace="default", name="echo", request="noon")
    ports = ports_of(flux)
    assert not asyncio.run(reconcile.done(ports))

    asyncio.run(reconcile.run(ports))

    assert asyncio.run(reconcile.done(ports))
    assert flux.found_release()["status"]["lastHandledReconcileAt"] == "noon"


def test_what_flux_does_not_know_cannot_be_looked_at(flux: Fluxed) -> None:
    reconcile = Reconcile(of=KUSTOMIZATIONS, namespace="default", name="none", request="noon")

    with pytest.raises(Refused, match=r"kube\.not-reconciled"):
        asyncio.run(reconcile.run(ports_of(flux)))


def test_a_gate_waits_with_the_numbers_that_it_saw() -> None:
    cluster = Installing("n1")
    gate = ComponentReady(component="web", conditions=(wanted(),))
    ports = ports_of(cluster)

    missing = asyncio.run(gate.check(ports))
    cluster.made(DEPLOYMENTS, web(2))
    begun = asyncio.run(gate.check(ports))
    cluster.settle()
    verdict = asyncio.run(gate.check(ports))

    assert [verdict_seen.answer for verdict_seen in (missing, begun, verdict)] == [
        GateAnswer.WAIT,
        GateAnswer.WAIT,
        GateAnswer.GO,
    ]
    assert missing.because == "waits for: web is available (it does not exist yet)"
    assert begun.because == "waits for: web is available (0 of 2 ready)"
    assert verdict.because == "web is available (2 of 2 ready)"


def test_a_kind_that_is_not_served_is_waited_for() -> None:
    kind = FLUX_INSTANCES
    gate = ComponentReady(
        component="flux", conditions=(wanted("flux", kind.name, kind.api_version),)
    )

    verdict = asyncio.run(gate.check(ports_of(Installing("n1"))))

    assert verdict.answer is GateAnswer.WAIT
    assert "FluxInstance is not served yet" in verdict.because


def test_a_smoke_test_leaves_only_its_result() -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)
    action = smoke_test(wanted())

    asyncio.run(action.run(ports))

    assert asyncio.run(action.done(ports))
    assert cluster.ask("GET", RESULTS)["data"] == {"web": "1.0.0"}
    assert cluster.named(DEPLOYMENTS) == []


def test_a_smoke_test_that_fails_is_cleaned_up_and_reported() -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)
    action = smoke_test(wanted("another"))

    with pytest.raises(Rejected) as caught:
        asyncio.run(action.run(ports))

    assert caught.value.problem.code == "kube.smoke-test-failed"
    assert "another is available (it does not exist yet)" in caught.value.problem.why
    assert not asyncio.run(action.done(ports))
    assert cluster.ask("GET", RESULTS)["data"] == {"web": PENDING}
    cluster.settle()
    assert cluster.named(DEPLOYMENTS) == []


def test_a_cancelled_smoke_test_deletes_its_objects() -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)

    class Interrupted:
        """A clock whose first wait is interrupted with Ctrl-C."""

        now = staticmethod(ports.clock.now)

        async def sleep(self, seconds: float) -> None:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(smoke_test(wanted("another")).run(replace(ports, clock=Interrupted())))

    cluster.settle()
    assert cluster.named(DEPLOYMENTS) == []


def test_objects_of_an_interrupted_smoke_test_are_deleted_before_the_next_one() -> None:
    cluster = Installing("n1")
    action = smoke_test(wanted())
    leftover: Any = {**action.objects[0], "apiVersion": "apps/v1"}
    leftover["metadata"] = {"name": "web", "labels": {MANAGED_BY: MANAGER}}
    cluster.made(DEPLOYMENTS, leftover)
    cluster.settle()
    old_uid = cluster.ask("GET", f"{DEPLOYMENTS}/web")["metadata"]["uid"]
    uids: list[str] = []
    ports = ports_of(cluster)

    class Watching:
        """A clock that notes the UID of the deployment at each wait."""

        now = staticmethod(ports.clock.now)

        async def sleep(self, seconds: float) -> None:
            uids.extend(
                each["metadata"]["uid"] for each in cluster.ask("GET", DEPLOYMENTS)["items"]
            )
            await ports.clock.sleep(seconds)

    asyncio.run(action.run(replace(ports, clock=Watching())))

    assert set(uids) - {old_uid}
    assert cluster.named(DEPLOYMENTS) == []


def test_parallel_smoke_tests_keep_the_results_of_each_other() -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)

    async def run() -> None:
        actions = [
            replace(smoke_test(wanted(name), name=name), component=name) for name in ("a", "b")
        ]
        await asyncio.gather(*(action.run(ports) for action in actions))

    asyncio.run(run())

    assert cluster.ask("GET", RESULTS)["data"] == {"a": "1.0.0", "b": "1.0.0"}


def test_a_cron_job_is_started_once_and_its_job_deleted() -> None:
    cluster = Installing("n1")
    container = {"name": "backup", "image": "example.org/backup:1"}
    pod = {"restartPolicy": "Never", "containers": [container]}
    content = {
        "metadata": {"name": "backup"},
        "spec": {
            "schedule": "0 0 1 1 *",
            "jobTemplate": {"spec": {"template": {"spec": pod}}},
        },
    }
    cluster.made("/apis/batch/v1/namespaces/default/cronjobs", content)
    job = ObjectCondition(
        api_version="batch/v1",
        kind="Job",
        name="stockman-backup-test",
        expr="object.status.succeeded >= 1",
        says="the backup succeeds",
        namespace="default",
    )
    action = replace(smoke_test(job), objects=(), cron_job="default/backup")

    asyncio.run(action.run(ports_of(cluster)))

    assert asyncio.run(action.done(ports_of(cluster)))
    assert cluster.named("/apis/batch/v1/namespaces/default/jobs") == []


def test_a_smoke_test_changes_no_object_of_others() -> None:
    cluster = Installing("n1")
    cluster.made(DEPLOYMENTS, web(2))

    with pytest.raises(Refused, match=r"kube\.foreign"):
        asyncio.run(smoke_test(wanted()).run(ports_of(cluster)))

    answer = cluster.ask("GET", f"{DEPLOYMENTS}/web")
    assert answer["spec"]["replicas"] == 2
