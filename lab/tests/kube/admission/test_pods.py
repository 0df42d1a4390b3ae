"""Pods: what the server fills in, refuses, evicts and lets go."""

from __future__ import annotations

from typing import Any

import pytest

from lab.tests.kube.asking import MERGE, Served, served

PODS = "/api/v1/namespaces/default/pods"
RESTARTS = '"Always", "OnFailure", "Never"'
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
def server() -> Served:
    return served()


def pod(name: str = "a", **spec: Any) -> dict[str, Any]:
    inner = {"containers": [{"name": "one", "image": "wool:1"}], **spec}
    return {"metadata": {"name": name, "labels": {"app": "wool"}}, "spec": inner}


def test_a_pod_gets_account_tolerations_priority_and_class(server: Served) -> None:
    spec = server.ask("POST", PODS, pod())["spec"]

    assert spec["serviceAccountName"] == "default"
    assert spec["priority"] == 0
    assert [toleration["key"] for toleration in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert spec["volumes"][0]["name"].startswith("kube-api-access-")
    assert server.ask("GET", f"{PODS}/a")["status"] == {
        "phase": "Pending",
        "qosClass": "BestEffort",
    }


def test_an_account_has_to_be_there(server: Served) -> None:
    refused = server.ask("POST", PODS, pod(serviceAccountName="nobody"))

    assert refused["message"] == (
        'pods "a" is forbidden: error looking up service account default/nobody: serviceaccount'
        ' "nobody" not found'
    )


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        ({"containers": [{"name": "a"}]}, "spec.containers[0].image: Required value"),
        (
            {"restartPolicy": "Foo"},
            'spec.restartPolicy: Unsupported value: "Foo": supported values: ' + RESTARTS,
        ),
    ],
)
def test_fields_that_are_wrong_are_named(server: Served, spec: Any, text: str) -> None:
    assert server.ask("POST", PODS, pod(**spec))["message"] == f'Pod "a" is invalid: {text}'


def test_a_pod_without_a_node_goes_at_once_and_others_after_their_grace(server: Served) -> None:
    server.ask("POST", PODS, pod("free"))
    server.ask("POST", PODS, pod("placed", nodeName="n"))

    server.ask("DELETE", f"{PODS}/free")
    marked = server.ask("DELETE", f"{PODS}/placed")

    assert server.respond("GET", f"{PODS}/free").status == 404
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    server.ask("DELETE", f"{PODS}/placed", {"gracePeriodSeconds": 0})
    assert server.respond("GET", f"{PODS}/placed").status == 404


def test_an_eviction_waits_for_the_budget(server: Served) -> None:
    server.ask("POST", PODS, pod(nodeName="n"))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    server.ask("PATCH", f"{PODS}/a/status", {"status": ready}, MERGE)
    selector = {"matchLabels": {"app": "wool"}}
    budget = {"metadata": {"name": "few"}, "spec": {"minAvailable": 1, "selector": selector}}
    server.ask("POST", BUDGETS, budget)
    status = {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1}
    server.ask("PATCH", f"{BUDGETS}/few/status", {"status": status}, MERGE)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}

    refused = server.ask("POST", f"{PODS}/a/eviction", eviction)
    server.ask("PATCH", f"{BUDGETS}/few/status", {"status": {"disruptionsAllowed": 1}}, MERGE)
    allowed = server.ask("POST", f"{PODS}/a/eviction", eviction)

    assert refused["code"] == 429
    assert refused["message"] == (
        "Cannot evict pod as it would violate the pod's disruption budget."
    )
    assert refused["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget few needs 1 healthy pods and has 1 currently",
        }
    ]
    assert allowed["status"] == "Success"
    assert server.ask("GET", f"{PODS}/a")["metadata"]["deletionTimestamp"]
    assert server.ask("GET", f"{BUDGETS}/few")["status"]["disruptionsAllowed"] == 0


def test_a_pod_is_bound_once(server: Served) -> None:
    server.ask("POST", PODS, pod())
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}

    server.ask("POST", f"{PODS}/a/binding", binding)
    again = server.ask("POST", f"{PODS}/a/binding", binding)

    assert server.ask("GET", f"{PODS}/a")["spec"]["nodeName"] == "n1"
    assert again["message"] == (
        'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
    )
