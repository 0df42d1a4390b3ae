"""k8s-gateway: a DNS server for names of the cluster, used by the home network."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest, deployment_condition
from stockman.catalog.objects import chart_sheets


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "fullnameOverride": "k8s-gateway",
        "domain": context.domain,
        "ttl": 1,
        "service": {
            "type": "LoadBalancer",
            "port": 53,
            "annotations": {"lbipam.cilium.io/ips": str(context.cluster.gateways.dns)},
            "externalTrafficPolicy": "Cluster",
        },
        "watchedResources": ["HTTPRoute", "Service"],
    }
    yield App(name="k8s-gateway", namespace=context.namespace, sheets=chart_sheets(context, values))


COMPONENT = Component(
    name="k8s-gateway",
    about=(
        "A DNS server for names of the cluster, to which the router of the home network forwards."
    ),
    phase=Phase.PLATFORM,
    apps=_apps,
    ready=(deployment_condition("k8s-gateway", "network"),),
    smoke_test=SmokeTest(
        says="the DNS server has its address",
        until=(
            Condition(
                kind="v1 Service",
                name="k8s-gateway",
                expr="object.status.loadBalancer.ingress.exists(i, i.ip != '')",
                says="the service has an address from the pool",
                namespace="network",
            ),
        ),
        seconds=60,
    ),
    known_problems=(
        KnownProblem(
            symptom="names of the cluster do not resolve in the home network",
            cause="the router does not forward the domain",
            fix="forward the domain to the address gateways.dns in the router's DNS settings",
        ),
    ),
)
