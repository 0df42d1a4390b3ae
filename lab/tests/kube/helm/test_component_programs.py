"""What the programs of some components do once their pods are ready."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.kube.helm.acknowledging import Acknowledging
from stockman_lab.kube.helm.load_balancers import LoadBalancers

from lab.tests.kube.helm.installing import Installing

METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
SERVICES = "/api/v1/namespaces/default/services"
POOLS = "/apis/cilium.io/v2/ciliumloadbalancerippools"
OPERATOR = "quay.io/cilium/operator-generic:v1.20.1"
METRICS_SERVER = "registry.k8s.io/metrics-server/metrics-server:v0.8.1"


def pod(image: str, name: str = "program") -> dict[str, Any]:
    container = {"name": "program", "image": image, "resources": {"requests": {"cpu": "100m"}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], "nodeName": "n1"}}


def start(cluster: Installing, image: str) -> None:
    cluster.made("/api/v1/namespaces/default/pods", pod(image))
    cluster.settle()


def service(name: str, requested: str = "") -> dict[str, Any]:
    annotations = {"lbipam.cilium.io/ips": requested} if requested else {}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 53, "protocol": "UDP"}]},
    }


@pytest.fixture
def cluster() -> Installing:
    return Installing("n1", flux=(Acknowledging, LoadBalancers))


@pytest.fixture
def pool(cluster: Installing) -> Installing:
    """A cluster with the addresses 10.0.0.8 and 10.0.0.9 for load balancers."""
    names = {"plural": "ciliumloadbalancerippools", "kind": "CiliumLoadBalancerIPPool"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v2",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    definition = {
        "metadata": {"name": "ciliumloadbalancerippools.cilium.io"},
        "spec": {"group": "cilium.io", "scope": "Cluster", "names": names, "versions": [version]},
    }
    cluster.made("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    blocks = [{"start": "10.0.0.8", "stop": "10.0.0.9"}]
    cluster.made(
        POOLS,
        {
            "apiVersion": "cilium.io/v2",
            "kind": "CiliumLoadBalancerIPPool",
            "metadata": {"name": "pool"},
            "spec": {"blocks": blocks},
        },
    )
    return cluster


def addresses(cluster: Installing) -> dict[str, list[str]]:
    items = cluster.ask("GET", SERVICES)["items"]
    return {
        item["metadata"]["name"]: [
            entry["ip"] for entry in item["status"]["loadBalancer"].get("ingress", ())
        ]
        for item in items
        if item["spec"]["type"] == "LoadBalancer"
    }


def test_load_balancers_get_the_addresses_they_request_or_free_ones(pool: Installing) -> None:
    pool.made(SERVICES, service("requested", "10.0.0.8"))
    pool.made(SERVICES, service("outside", "10.9.9.9"))
    start(pool, OPERATOR)
    pool.made(SERVICES, service("any"))
    pool.made(SERVICES, service("too-many"))
    pool.settle()

    assert addresses(pool) == {
        "any": ["10.0.0.9"],
        "outside": [],
        "requested": ["10.0.0.8"],
        "too-many": [],
    }


def test_load_balancers_get_no_address_without_the_operator(pool: Installing) -> None:
    pool.made(SERVICES, service("any"))
    pool.settle()

    assert addresses(pool) == {"any": []}


def test_usage_of_nodes_is_served_once_metrics_server_is_available(cluster: Installing) -> None:
    spec = {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"name": "metrics-server", "namespace": "default"},
    }
    cluster.made(
        "/apis/apiregistration.k8s.io/v1/apiservices",
        {"metadata": {"name": "v1beta1.metrics.k8s.io"}, "spec": spec},
    )
    cluster.settle()
    before = cluster.text(METRICS)
    start(cluster, METRICS_SERVER)

    usage = cluster.ask("GET", METRICS)

    assert before == "404 page not found\n"
    assert [item["metadata"]["name"] for item in usage["items"]] == ["n1"]
    assert usage["items"][0]["usage"] == {"cpu": "100m", "memory": "0"}
    assert cluster.ask("GET", f"{METRICS}/n1")["kind"] == "NodeMetrics"
    assert cluster.ask("GET", f"{METRICS}/n2")["code"] == 404
