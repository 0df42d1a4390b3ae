"""Endpoints name the pods behind a service."""

from __future__ import annotations

from typing import Any

from lab.tests.kube.controllers.playing import APPS, CORE, Played, node, played, workload

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


def serving(**spec: Any) -> Played:
    lab = played()
    lab.ask("POST", "/api/v1/nodes", node("one"))
    desired = {"selector": {"app": "wool"}, "ports": [{"port": 80, "targetPort": 8080}], **spec}
    lab.ask("POST", f"{CORE}/services", {"metadata": {"name": "wool"}, "spec": desired})
    lab.ask("POST", f"{APPS}/deployments", workload(replicas=2))
    return lab


def test_pods_without_an_address_are_not_named() -> None:
    lab = serving()

    assert lab.items(SLICES)[0]["endpoints"] is None


def test_ready_pods_are_named_with_their_node() -> None:
    lab = serving()

    lab.make_ready("one")

    result = lab.items(SLICES)[0]
    assert [endpoint["conditions"]["ready"] for endpoint in result["endpoints"]] == [True, True]
    assert {endpoint["nodeName"] for endpoint in result["endpoints"]} == {"one"}
    assert result["ports"][0]["port"] == 8080


def test_both_go_with_their_service() -> None:
    lab = serving()

    lab.ask("DELETE", f"{CORE}/services/wool")

    assert lab.items(SLICES) == []
    assert lab.items(f"{CORE}/endpoints") == []


def test_a_service_without_selector_is_left_alone() -> None:
    lab = played()
    desired = {"ports": [{"port": 80}]}

    lab.ask("POST", f"{CORE}/services", {"metadata": {"name": "wool"}, "spec": desired})

    assert lab.items(SLICES) == []
