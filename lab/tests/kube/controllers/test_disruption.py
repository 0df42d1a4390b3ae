"""Budgets say how many pods may go, and evictions keep to them."""

from __future__ import annotations

from typing import Any

import pytest

from lab.tests.kube.controllers.playing import (
    APPS,
    CORE,
    POLICY,
    SELECTOR,
    Played,
    played,
    workload,
)

BUDGET = f"{POLICY}/poddisruptionbudgets/wool"


def guarded(replicas: int = 3, **limit: Any) -> Played:
    lab = played()
    lab.ask("POST", "/api/v1/nodes", {"metadata": {"name": "one"}})
    lab.ask("POST", f"{APPS}/deployments", workload(replicas=replicas))
    lab.make_ready("one")
    body = {"metadata": {"name": "wool"}, "spec": {"selector": SELECTOR, **limit}}
    lab.ask("POST", f"{POLICY}/poddisruptionbudgets", body)
    return lab


def evict(lab: Played, number: int = 0) -> int:
    name = lab.names(f"{CORE}/pods")[number]
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    lab.server.ask("POST", f"{CORE}/pods/{name}/eviction", body)
    return lab.server.last.status


@pytest.mark.parametrize(
    ("limit", "desired", "allowed"),
    [
        ({"minAvailable": 2}, 2, 1),
        ({"minAvailable": "50%"}, 2, 1),
        ({"maxUnavailable": 1}, 2, 1),
        ({"maxUnavailable": "34%"}, 1, 2),
        ({"maxUnavailable": 0}, 3, 0),
    ],
)
def test_budgets_count(limit: dict[str, Any], desired: int, allowed: int) -> None:
    status = guarded(**limit).get(BUDGET)["status"]

    assert (status["expectedPods"], status["currentHealthy"]) == (3, 3)
    assert (status["desiredHealthy"], status["disruptionsAllowed"]) == (desired, allowed)


def test_an_eviction_is_refused_when_nothing_is_allowed() -> None:
    assert evict(guarded(maxUnavailable=0)) == 429


def test_the_second_eviction_waits_for_a_new_pod() -> None:
    lab = guarded(maxUnavailable=1)
    assert evict(lab) == 201
    lab.run()
    assert evict(lab, 1) == 429

    lab.make_ready("one")

    assert evict(lab, 1) == 201


def test_pods_of_something_without_a_scale_cannot_be_counted() -> None:
    lab = played()
    lab.ask("POST", "/api/v1/nodes", {"metadata": {"name": "one"}})
    lab.patch("/api/v1/nodes/one/status", {"status": {"conditions": [READY]}})
    lab.ask("POST", f"{APPS}/daemonsets", workload())
    body = {"metadata": {"name": "wool"}, "spec": {"selector": SELECTOR, "maxUnavailable": 1}}

    lab.ask("POST", f"{POLICY}/poddisruptionbudgets", body)

    assert lab.get(BUDGET)["status"]["conditions"][0]["reason"] == "SyncFailed"


READY = {"type": "Ready", "status": "True"}
