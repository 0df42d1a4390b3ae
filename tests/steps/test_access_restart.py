"""Pods that read an old token begin anew, one after the other, once the Secret has the new one."""

from __future__ import annotations

import asyncio

from lab.tests.kube.helm.installing import Installing
from stockman.steps.access.delivery import RestartReaders, SecretDelivered
from stockman.steps.base import GateAnswer
from stockman.steps.ports import Ports
from tests.steps.kube_cluster import ports_of
from tests.steps.test_access_delivered import check_gate_of, put, running

RESTART = RestartReaders(
    namespace="default",
    secret="csi-config",
    key="config.yaml",
    token="csi@pve!csi-2",
    alone=0.0,
)
HERE = SecretDelivered(
    namespace="default", secret="csi-config", key="config.yaml", token="csi@pve!csi-2"
)


def renew_token() -> tuple[Installing, Ports]:
    """A cluster whose Secret was written after its pod began."""
    cluster, ports = running()
    cluster.advance(60)
    put(ports, "csi@pve!csi-2")
    cluster.advance(60)
    return cluster, ports


def names(cluster: Installing) -> list[str]:
    pods = cluster.ask("GET", "/api/v1/namespaces/default/pods")["items"]
    return [pod["metadata"]["name"] for pod in pods]


def test_a_pod_that_began_before_is_replaced_and_the_token_is_delivered() -> None:
    cluster, ports = renew_token()
    before = names(cluster)

    assert not asyncio.run(RESTART.done(ports))
    asyncio.run(RESTART.run(ports))

    assert asyncio.run(RESTART.done(ports))
    assert names(cluster) != before
    assert check_gate_of(ports).answer is GateAnswer.GO


def test_pods_that_began_later_are_left_alone() -> None:
    cluster, ports = renew_token()
    asyncio.run(RESTART.run(ports))
    before = names(cluster)

    asyncio.run(RESTART.run(ports))

    assert names(cluster) == before


def test_pods_are_not_up_to_date_before_the_secret_is() -> None:
    _cluster, ports = running()

    assert not asyncio.run(RESTART.done(ports))


def test_where_nobody_reads_the_secret_nothing_is_restarted() -> None:
    assert asyncio.run(RESTART.done(ports_of(Installing("n1"))))


def test_the_secret_is_waited_for() -> None:
    _cluster, ports = running()

    old = asyncio.run(HERE.check(ports))
    put(ports, "csi@pve!csi-2")
    new = asyncio.run(HERE.check(ports))

    assert (old.answer, new.answer) == (GateAnswer.WAIT, GateAnswer.GO)
