"""What the operator of a new cluster installs first, with Helm: a network, DNS, Flux."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stockman_lab.kube.api.messages import User
from stockman_lab.kube.helm.chart import newest
from stockman_lab.kube.helm.engine import Helm, ReleaseSpec
from stockman_lab.kube.helm.writer import Writer
from stockman_lab.kube.nodes.node_object import UNINITIALIZED
from stockman_lab.kube.objects import Object, entries_of

if TYPE_CHECKING:
    from stockman_lab.kube.clusters.clusters import KubernetesCluster
    from stockman_lab.world.world import World

_OPERATOR = User("admin", ("system:masters", "system:authenticated"))
_AGENT = "Helm/4.1.0"
_SYSTEM, _FLUX = "kube-system", "flux-system"
_TOKEN = "ccm"


@dataclass(frozen=True, slots=True)
class _Chart:
    """One release."""

    name: str
    place: str
    namespace: str
    values: Object = field(default_factory=dict)


NETWORK = _Chart(
    "cilium", "oci://quay.io/cilium/charts/cilium", _SYSTEM, {"operator": {"replicas": 1}}
)
CLOUD = _Chart(
    "proxmox-cloud-controller-manager",
    "oci://ghcr.io/sergelogvinov/charts/proxmox-cloud-controller-manager",
    _SYSTEM,
)
NAMES = _Chart(
    "coredns",
    "oci://ghcr.io/coredns/charts/coredns",
    _SYSTEM,
    {
        "fullnameOverride": "coredns",
        "k8sAppLabelOverride": "kube-dns",
        "replicaCount": 2,
        "serviceAccount": {"create": True},
    },
)
FLUX = (
    _Chart("flux-operator", "oci://ghcr.io/controlplaneio-fluxcd/charts/flux-operator", _FLUX),
    _Chart("flux-instance", "oci://ghcr.io/controlplaneio-fluxcd/charts/flux-instance", _FLUX),
)


def bring_network(world: World, cluster: KubernetesCluster) -> None:
    """Have pods of a network on every node, so that nodes become ready."""
    _install(world, cluster, NETWORK)


def bring_rest(world: World, cluster: KubernetesCluster) -> None:
    """Have what else a cluster needs where it is missing, and Flux."""
    for chart in _missing(cluster):
        if chart is CLOUD:
            _let_in(world, cluster)
        _install(world, cluster, chart)


def _let_in(world: World, cluster: KubernetesCluster) -> None:
    """Give the cloud controller a token of every Proxmox cluster, in the Secret that it reads."""
    import base64
    import json

    from stockman_lab.pve.access.accounts import TokenChange, create_token
    from stockman_lab.pve.access.identity import Caller
    from stockman_lab.pve.access.state import ROOT

    told = []
    for proxmox in world.clusters.values():
        access = proxmox.state.access
        if _TOKEN not in access.users[ROOT].tokens:
            change = TokenChange(privsep=False)
            create_token(access, Caller(ROOT, _TOKEN), change, proxmox.around.dice.random_bytes)
        told.append(
            {
                "url": f"https://{next(iter(proxmox.state.hosts.values())).address}:8006/api2/json",
                "token_id": f"{ROOT}!{_TOKEN}",
                "token_secret": access.users[ROOT].tokens[_TOKEN].secret,
                "region": proxmox.name,
            }
        )
    text = json.dumps({"clusters": told})
    secret: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": CLOUD.name, "namespace": CLOUD.namespace},
        "data": {"config.yaml": base64.b64encode(text.encode()).decode()},
    }
    Writer(cluster.api, _AGENT, _OPERATOR).made(secret)


def _missing(cluster: KubernetesCluster) -> Iterator[_Chart]:
    objects = cluster.controllers.objects
    taints = [
        taint["key"]
        for node in objects.listed("nodes")
        for taint in entries_of(node, "spec", "taints")
    ]
    if UNINITIALIZED in taints:
        yield CLOUD
    if objects.get("deployments", f"{_SYSTEM}/coredns") is None:
        yield NAMES
    yield from FLUX


def _install(world: World, cluster: KubernetesCluster, chart: _Chart) -> None:
    found = newest(chart.place)
    if found is None:
        raise LookupError(chart.place)
    helm = Helm(Writer(cluster.api, _AGENT, _OPERATOR), lambda: world.now)
    options = ReleaseSpec(chart.name, chart.namespace, found, chart.values, create_namespace=True)
    release = helm.begin_install(options)
    world.settle()
    helm.finish(release)
    world.settle()
