"""Nodes that are emptied, opened again and forgotten."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lab.tests.kube.helm.installing import Installing
from stockman.model.errors import Refused
from stockman.steps.kubernetes.nodes import Cordon, DeleteNode, DrainNode
from tests.steps.kube_cluster import budget, ports_of, two_nodes, web

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def cluster() -> Installing:
    return two_nodes()


def uid(cluster: Installing, name: str = "n1") -> str:
    return str(cluster.ask("GET", f"/api/v1/nodes/{name}")["metadata"]["uid"])


def read_cordon(cluster: Installing, name: str = "n1") -> Any:
    return cluster.ask("GET", f"/api/v1/nodes/{name}")["spec"].get("unschedulable")


def pod_nodes(cluster: Installing) -> list[str]:
    return sorted(pod["spec"]["nodeName"] for pod in cluster.ask("GET", PODS)["items"])


def test_a_drained_node_has_no_pods_and_is_opened_again(cluster: Installing) -> None:
    ports = ports_of(cluster)
    hold = Cordon(node="n1", uid=uid(cluster))
    drain = DrainNode(node="n1", uid=uid(cluster))
    assert "n1" in pod_nodes(cluster)

    prior = asyncio.run(hold.prior(ports))
    asyncio.run(hold.take(ports))
    asyncio.run(hold.take(ports))
    assert read_cordon(cluster) is True
    asyncio.run(drain.run(ports))

    assert asyncio.run(drain.done(ports))
    cluster.settle()
    assert pod_nodes(cluster) == ["n2", "n2"]
    asyncio.run(hold.give_back(ports, prior))
    asyncio.run(hold.give_back(ports, prior))
    assert read_cordon(cluster) is None


def test_a_node_that_was_closed_before_stays_closed(cluster: Installing) -> None:
    ports = ports_of(cluster)
    cluster.ask("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    hold = Cordon(node="n1", uid=uid(cluster))

    prior = asyncio.run(hold.prior(ports))
    asyncio.run(hold.take(ports))
    asyncio.run(hold.give_back(ports, prior))

    assert read_cordon(cluster) is True


def test_a_budget_that_never_yields_is_named(cluster: Installing) -> None:
    cluster.made(BUDGETS, budget(2))
    cluster.settle()
    began = cluster.timeline.now
    drain, ports = DrainNode(node="n1", uid=uid(cluster), seconds=60.0), ports_of(cluster)
    asyncio.run(Cordon(node="n1", uid=uid(cluster)).take(ports))

    with pytest.raises(Refused) as caught:
        asyncio.run(drain.run(ports))

    assert caught.value.problem.code == "kube.drain-blocked"
    assert "disruption budget web protects" in caught.value.problem.why
    assert cluster.timeline.now - began >= 60.0
    assert "n1" in pod_nodes(cluster)


def test_a_budget_that_spares_one_at_a_time_is_waited_for(cluster: Installing) -> None:
    cluster.ask("PATCH", "/api/v1/nodes/n2", {"spec": {"unschedulable": True}})
    for pod in cluster.ask("GET", PODS)["items"]:
        cluster.ask("DELETE", f"{PODS}/{pod['metadata']['name']}")
    cluster.settle()
    cluster.ask("PATCH", "/api/v1/nodes/n2", {"spec": {"unschedulable": None}})
    cluster.made(BUDGETS, budget(1))
    cluster.settle()
    assert pod_nodes(cluster) == ["n1", "n1"]
    ports = ports_of(cluster)
    asyncio.run(Cordon(node="n1", uid=uid(cluster)).take(ports))

    asyncio.run(DrainNode(node="n1", uid=uid(cluster)).run(ports))

    cluster.settle()
    assert pod_nodes(cluster) == ["n2", "n2"]


def test_a_node_that_somebody_opened_is_not_emptied_again_and_again(cluster: Installing) -> None:
    with pytest.raises(Refused, match=r"kube\.uncordoned"):
        asyncio.run(DrainNode(node="n1", uid=uid(cluster)).run(ports_of(cluster)))

    assert "n1" in pod_nodes(cluster)


def test_pods_that_nobody_starts_again_are_not_evicted(cluster: Installing) -> None:
    pod = {
        "metadata": {"name": "alone"},
        "spec": {"nodeName": "n1", "containers": [{"name": "a", "image": "example.org/a:1"}]},
    }
    cluster.made(PODS, pod)
    cluster.settle()

    with pytest.raises(Refused, match=r"kube\.bare-pods"):
        asyncio.run(DrainNode(node="n1", uid=uid(cluster)).run(ports_of(cluster)))

    assert "n1" in pod_nodes(cluster)


def test_another_machine_of_the_same_name_is_left_alone(cluster: Installing) -> None:
    ports = ports_of(cluster)

    asyncio.run(Cordon(node="n1", uid="another").take(ports))
    assert asyncio.run(DrainNode(node="n1", uid="another").done(ports))
    removal = DeleteNode(node="n1", uid="another")
    assert asyncio.run(removal.done(ports))
    asyncio.run(removal.run(ports))

    assert read_cordon(cluster) is None
    assert uid(cluster)


def test_a_node_is_forgotten_once(cluster: Installing) -> None:
    ports = ports_of(cluster)
    cluster.hosts.by_name["n1"].is_alive = False
    removal = DeleteNode(node="n1", uid=uid(cluster))
    assert not asyncio.run(removal.done(ports))

    asyncio.run(removal.run(ports))
    asyncio.run(removal.run(ports))

    assert asyncio.run(removal.done(ports))
    assert "n1" not in cluster.named("/api/v1/nodes")


def _tolerant(cluster: Installing) -> None:
    """A deployment whose pod tolerates everything and runs only on n1, as cilium-operator does."""
    content = web(1)
    content["metadata"]["name"] = "operator"
    content["spec"]["selector"] = {"matchLabels": {"app": "operator"}}
    template = content["spec"]["template"]
    template["metadata"]["labels"] = {"app": "operator"}
    template["spec"]["tolerations"] = [{"operator": "Exists"}]
    template["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n1"}
    cluster.made("/apis/apps/v1/namespaces/default/deployments", content)
    cluster.settle()


def _operators(cluster: Installing) -> list[str]:
    pods = cluster.ask("GET", PODS)["items"]
    return [
        pod["metadata"]["uid"] for pod in pods if pod["metadata"]["name"].startswith("operator")
    ]


def test_a_pod_that_tolerates_everything_is_evicted_once_and_its_successor_is_not_waited_for(
    cluster: Installing,
) -> None:
    _tolerant(cluster)
    ports = ports_of(cluster)
    asyncio.run(ports.clock.sleep(120))
    before = _operators(cluster)
    drain = DrainNode(node="n1", uid=uid(cluster))
    asyncio.run(Cordon(node="n1", uid=uid(cluster)).take(ports))
    cluster.settle()
    assert not asyncio.run(drain.done(ports))

    asyncio.run(drain.run(ports))
    cluster.settle()

    assert asyncio.run(drain.done(ports))
    after = _operators(cluster)
    assert len(after) == 1
    assert after != before
