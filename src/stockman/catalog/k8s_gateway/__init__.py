"""k8s-gateway: a DNS server for names of the cluster, for the network at home."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest, deployment_condition
from stockman.catalog.objects import chart_sheets


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": "k8s-gateway",
        "domain": scene.domain,
        "ttl": 1,
        "service": {
            "type": "LoadBalancer",
            "port": 53,
            "annotations": {"lbipam.cilium.io/ips": str(scene.cluster.gateways.dns)},
            "externalTrafficPolicy": "Cluster",
        },
        "watchedResources": ["HTTPRoute", "Service"],
    }
    yield App(name="k8s-gateway", namespace=scene.namespace, sheets=chart_sheets(scene, values))


COMPONENT = Component(
    name="k8s-gateway",
    about="A DNS server for the names of the cluster, to which a home router forwards.",
    phase=Phase.PLATFORM,
    apps=_apps,
    ready=(deployment_condition("k8s-gateway", "network"),),
    trial=SmokeTest(
        says="the DNS server has its address",
        until=(
            Condition(
                kind="v1 Service",
                name="k8s-gateway",
                expr="object.status.loadBalancer.ingress.exists(i, i.ip != '')",
                says="the service has an address of the pool",
                namespace="network",
            ),
        ),
        seconds=60,
    ),
    troubles=(
        KnownProblem(
            shows="names of the cluster do not resolve in the network at home",
            because="the router does not forward the domain",
            fix="forward the domain to the address gateways.dns in the router's DNS settings",
        ),
    ),
)
