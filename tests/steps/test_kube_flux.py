"""Requests to Flux, trials and gates, in a cluster in which Flux runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lab.tests.kube.flux.fluxed import Fluxed
from lab.tests.kube.helm.installing import Installing
from stockman.model.errors import Refused, Rejected
from stockman.steps.base import GateAnswer
from stockman.steps.kubernetes.flux import Reconcile
from stockman.steps.kubernetes.objects import FLUX_INSTANCES, HELM_RELEASES, KUSTOMIZATIONS
from stockman.steps.kubernetes.readiness import ComponentReady, ObjectCondition
from stockman.steps.kubernetes.smoke_test import STARTED, RunSmokeTest
from tests.steps.kube_cluster import ports_of, web

TRIED = "/api/v1/namespaces/kube-system/configmaps/stockman-trials"
AVAILABLE = "object.status.conditions.exists(c, c.type == 'Available' && c.status == 'True')"


@pytest.fixture(scope="module")
def flux() -> Fluxed:
    found = Fluxed("n1")
    found.chart()
    found.release()
    return found


def wanted(name: str = "web", kind: str = "Deployment", api: str = "apps/v1") -> ObjectCondition:
    return ObjectCondition(
        api_version=api,
        kind=kind,
        name=name,
        expr=AVAILABLE,
        says=f"{name} is available",
        namespace="default",
    )


def trial(*conditions: ObjectCondition, name: str = "web") -> RunSmokeTest:
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
    asked = Reconcile(of=HELM_RELEASES, namespace="default", name="echo", request="noon")
    ports = ports_of(flux)
    assert not asyncio.run(asked.done(ports))

    asyncio.run(asked.run(ports))

    assert asyncio.run(asked.done(ports))
    assert flux.found_release()["status"]["lastHandledReconcileAt"] == "noon"


def test_what_flux_does_not_know_cannot_be_looked_at(flux: Fluxed) -> None:
    asked = Reconcile(of=KUSTOMIZATIONS, namespace="default", name="none", request="noon")

    with pytest.raises(Refused, match=r"kube\.not-reconciled"):
        asyncio.run(asked.run(ports_of(flux)))


def test_a_gate_waits_with_the_numbers_that_it_saw() -> None:
    cluster = Installing("n1")
    gate = ComponentReady(component="web", conditions=(wanted(),))
    ports = ports_of(cluster)

    missing = asyncio.run(gate.check(ports))
    cluster.made("/apis/apps/v1/namespaces/default/deployments", web(2))
    begun = asyncio.run(gate.check(ports))
    cluster.settle()
    there = asyncio.run(gate.check(ports))

    assert [one.answer for one in (missing, begun, there)] == [
        GateAnswer.WAIT,
        GateAnswer.WAIT,
        GateAnswer.GO,
    ]
    assert missing.because == "waits for: web is available (there is none yet)"
    assert begun.because == "waits for: web is available (0 of 2 ready)"
    assert there.because == "web is available (2 of 2 ready)"


def test_a_kind_that_is_not_served_is_waited_for() -> None:
    kind = FLUX_INSTANCES
    gate = ComponentReady(
        component="flux", conditions=(wanted("flux", kind.name, kind.api_version),)
    )

    verdict = asyncio.run(gate.check(ports_of(Installing("n1"))))

    assert verdict.answer is GateAnswer.WAIT
    assert "FluxInstance is not served yet" in verdict.because


def test_a_trial_leaves_nothing_but_its_result() -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)
    action = trial(wanted())

    asyncio.run(action.run(ports))

    assert asyncio.run(action.done(ports))
    assert cluster.ask("GET", TRIED)["data"] == {"web": "1.0.0"}
    assert cluster.named("/apis/apps/v1/namespaces/default/deployments") == []


def test_a_trial_that_fails_is_cleaned_up_and_told() -> None:
    cluster = Installing("n1")
    ports = ports_of(cluster)
    action = trial(wanted("another"))

    with pytest.raises(Rejected) as caught:
        asyncio.run(action.run(ports))

    assert caught.value.problem.code == "kube.trial-failed"
    assert "another is available (there is none yet)" in caught.value.problem.why
    assert not asyncio.run(action.done(ports))
    assert cluster.ask("GET", TRIED)["data"] == {"web": STARTED}
    assert cluster.named("/apis/apps/v1/namespaces/default/deployments") == []


def test_a_trial_touches_nothing_of_others() -> None:
    cluster = Installing("n1")
    cluster.made("/apis/apps/v1/namespaces/default/deployments", web(2))

    with pytest.raises(Refused, match=r"kube\.foreign"):
        asyncio.run(trial(wanted()).run(ports_of(cluster)))

    found = cluster.ask("GET", "/apis/apps/v1/namespaces/default/deployments/web")
    assert found["spec"]["replicas"] == 2
