"""Every action of the Kubernetes stage, killed after each of its calls and repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from stockman_lab.servers.kube_port import memory_kubernetes

from lab.tests.kube.helm.installing import Installing
from stockman.steps.base import Action
from stockman.steps.kubernetes.chart import InstallChart
from stockman.steps.kubernetes.nodes import DeleteNode, DrainNode
from stockman.steps.kubernetes.resources import ApplyConfigMap, ApplyNamespace
from stockman.steps.ports import Ports
from tests.planning.bootstrapped import Killed, Mortal
from tests.steps.kube_cluster import ports_of, two_nodes
from tests.steps.test_kube_chart import ECHO, left
from tests.steps.test_kube_flux import smoke_test, wanted
from tests.steps.test_kube_nodes import uid
from tests.steps.test_kube_secret import APPLY


def drain(cluster: Installing) -> Action:
    """Of a node that is closed already, as the engine has it."""
    cluster.ask("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    return DrainNode(node="n1", uid=uid(cluster))


Made = Callable[[Installing], Action]
ACTIONS: dict[str, Made] = {
    "install": lambda _: InstallChart(install=ECHO),
    "secret": lambda _: APPLY,
    "map": lambda _: ApplyConfigMap(namespace="default", name="one", data={"a": "b"}),
    "namespace": lambda _: ApplyNamespace(name="wool"),
    "drain": drain,
    "removal": lambda found: DeleteNode(node="n1", uid=uid(found)),
    "smoke-test": lambda _: smoke_test(wanted("tested"), name="tested"),
}
MOST = 8
"""Calls after which an action only waits."""


def cluster_for(name: str) -> Installing:
    return two_nodes() if name in ("drain", "removal") else Installing("n1")


async def perform_action(action: Action, ports: Ports) -> None:
    """As the engine does it."""
    if not await action.done(ports):
        await action.run(ports)
        assert await action.done(ports)


def open_ports(cluster: Installing, calls: int | None) -> tuple[Ports, Mortal]:
    mortal = Mortal(memory_kubernetes(cluster.api))
    mortal.left = calls
    ports = ports_of(cluster, here="a secret")
    return replace(ports, kubernetes=mortal), mortal  # type: ignore[arg-type]  # every call is handed on


@pytest.mark.parametrize("name", ACTIONS)
def test_the_next_run_finishes_what_was_cut_off(name: str) -> None:
    complete = cluster_for(name)
    ports, client = open_ports(complete, None)
    asyncio.run(perform_action(ACTIONS[name](complete), ports))
    total = len(client.calls)

    for calls in range(min(total, MOST)):
        interrupted = cluster_for(name)
        action = ACTIONS[name](interrupted)
        with pytest.raises(Killed):
            asyncio.run(perform_action(action, open_ports(interrupted, calls)[0]))
        asyncio.run(perform_action(action, open_ports(interrupted, None)[0]))
        assert left(interrupted) == [], calls
        assert [release["version"] for release in interrupted.releases()] in ([], [1]), calls


@pytest.mark.parametrize("name", ACTIONS)
def test_what_is_done_is_not_done_again(name: str) -> None:
    cluster = cluster_for(name)
    action = ACTIONS[name](cluster)
    asyncio.run(perform_action(action, open_ports(cluster, None)[0]))
    ports, client = open_ports(cluster, None)

    asyncio.run(perform_action(action, ports))

    assert set(client.calls) <= {"get", "objects", "node", "pods", "find_kind"}
