"""Small clusters for actions on nodes, pods and Flux: an API server, and who works with it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from stockman_lab.servers.kube_port import memory_kubernetes

from lab.tests.kube.helm.installing import Installing
from stockman.model.secret import Secret
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef


class InstallingClock:
    """The time of a cluster, which passes when somebody waits."""

    def __init__(self, cluster: Installing) -> None:
        self._cluster = cluster

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._cluster.timeline.now, UTC)

    async def sleep(self, seconds: float) -> None:
        self._cluster.advance(seconds)


class Dice:
    def random_bytes(self, count: int) -> bytes:
        return bytes(count)


class Pockets:
    """Secrets by their place."""

    def __init__(self, **values: str) -> None:
        self.values = values

    async def read(self, ref: SecretRef) -> Secret:
        return Secret(self.values[ref.place], resolved=True)

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        self.values[ref.place] = secret.reveal()


def ports_of(cluster: Installing, **secrets: str) -> Ports:
    return Ports(
        clock=InstallingClock(cluster),
        entropy=Dice(),
        kubernetes=memory_kubernetes(cluster.api),
        secrets=Pockets(**secrets),
    )


def web(replicas: int) -> dict[str, Any]:
    """A deployment of pods that can run anywhere."""
    return {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "example.org/web:1"}]},
            },
        },
    }


def budget(least: int) -> dict[str, Any]:
    """How many of them have to stay."""
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}}
    return {"metadata": {"name": "web"}, "spec": spec}


def network() -> dict[str, Any]:
    """The network of pods, as a daemon of every node."""
    pod = {
        "hostNetwork": True,
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "net", "image": "example/cilium/cilium:v1"}],
    }
    return {
        "metadata": {"name": "net"},
        "spec": {
            "selector": {"matchLabels": {"app": "net"}},
            "template": {"metadata": {"labels": {"app": "net"}}, "spec": pod},
        },
    }


def two_nodes() -> Installing:
    """Two nodes with a network of daemons, and a deployment of two pods."""
    cluster = Installing("n1", "n2")
    cluster.made("/apis/apps/v1/namespaces/kube-system/daemonsets", network())
    for name in ("n1", "n2"):
        cluster.ask("DELETE", f"/api/v1/namespaces/kube-system/pods/net-{name}")
    cluster.settle()
    cluster.made("/apis/apps/v1/namespaces/default/deployments", web(2))
    cluster.settle()
    return cluster
