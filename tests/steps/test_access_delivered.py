"""Whether a component works with its new token: its Secret has it, and its pods began later."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from lab.tests.kube.helm.installing import Installing
from stockman.kubernetes.objects import SECRETS, ServerSideApply
from stockman.steps.access.delivery import TokenDelivered
from stockman.steps.base import GateAnswer, Verdict
from stockman.steps.ports import Ports
from tests.steps.kube_cluster import network, ports_of

GATE = TokenDelivered(
    namespace="default", secret="csi-config", key="config.yaml", token="csi@pve!csi-2"
)


def put(ports: Ports, token: str) -> None:
    text = f"clusters:\n- token_id: {token}\n  token_secret: canary\n"
    content = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "csi-config", "namespace": "default"},
        "data": {"config.yaml": base64.b64encode(text.encode()).decode()},
    }
    asyncio.run(ports.to_kubernetes().apply(SECRETS, ServerSideApply(content=content)))


def reader() -> dict[str, Any]:
    pod = {
        "containers": [{"name": "csi", "image": "example.org/csi:1"}],
        "volumes": [{"name": "config", "secret": {"secretName": "csi-config"}}],
    }
    return {
        "metadata": {"name": "csi"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "csi"}},
            "template": {"metadata": {"labels": {"app": "csi"}}, "spec": pod},
        },
    }


def running() -> tuple[Installing, Ports]:
    """A cluster with a pod that reads the old token."""
    cluster = Installing("n1")
    cluster.made("/apis/apps/v1/namespaces/kube-system/daemonsets", network())
    cluster.ask("DELETE", "/api/v1/namespaces/kube-system/pods/net-n1")
    cluster.settle()
    ports = ports_of(cluster)
    put(ports, "csi@pve!csi")
    cluster.made("/apis/apps/v1/namespaces/default/deployments", reader())
    cluster.settle()
    return cluster, ports


def check_gate_of(ports: Ports) -> Verdict:
    return asyncio.run(GATE.check(ports))


def test_a_secret_with_the_old_token_is_waited_for() -> None:
    _cluster, ports = running()

    verdict = check_gate_of(ports)

    assert verdict.answer is GateAnswer.WAIT
    assert "has another token" in verdict.because
    assert "canary" not in verdict.because


def test_pods_that_began_before_the_secret_was_written_are_waited_for() -> None:
    cluster, ports = running()
    cluster.advance(60)
    put(ports, "csi@pve!csi-2")

    verdict = check_gate_of(ports)

    assert verdict.answer is GateAnswer.WAIT
    assert verdict.because.startswith("0 of 1 pods began after Secret csi-config was written at")


def test_pods_that_began_later_use_the_new_token() -> None:
    cluster, ports = running()
    cluster.advance(60)
    put(ports, "csi@pve!csi-2")
    cluster.advance(60)
    for pod in cluster.ask("GET", "/api/v1/namespaces/default/pods")["items"]:
        name = pod["metadata"]["name"]
        cluster.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}")
    cluster.settle()

    verdict = check_gate_of(ports)

    assert verdict.answer is GateAnswer.GO
    assert verdict.because == "1 of 1 pods began after Secret csi-config was written"


def test_where_there_is_no_secret_nobody_reads_it() -> None:
    assert check_gate_of(ports_of(Installing("n1"))).answer is GateAnswer.GO
