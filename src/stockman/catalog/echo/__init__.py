"""echo: a small web server that returns the request, to test ingress."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest, deployment_condition
from stockman.catalog.objects import GATEWAYS_NAMESPACE, chart_sheets, public_gateway


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        "replicaCount": 2 if len(context.desired.nodes) > 1 else 1,
        "config": {
            "kubernetes": True,
            "trustedProxies": [str(context.cluster.kubernetes.pod_cidr)],
        },
        "httpRoute": {
            "enabled": True,
            "hostnames": [f"{{{{ .Release.Name }}}}.{context.domain}"],
            "parentRefs": [{"name": public_gateway(context), "namespace": GATEWAYS_NAMESPACE}],
        },
        "monitoring": {
            "serviceMonitor": {"enabled": context.is_enabled("prometheus-operator-crds")}
        },
        "resources": {"requests": {"cpu": "10m"}, "limits": {"memory": "64Mi"}},
    }
    yield App(name="echo", namespace=context.namespace, sheets=chart_sheets(context, values))


COMPONENT = Component(
    name="echo",
    about="A web server that returns the request, to test that ingress works.",
    phase=Phase.APPLICATIONS,
    apps=_apps,
    ready=(deployment_condition("echo", "default"),),
    smoke_test=SmokeTest(
        says="a gateway accepts the route of echo",
        until=(
            Condition(
                kind="gateway.networking.k8s.io/v1 HTTPRoute",
                name="echo",
                expr="object.status.parents.all(p, p.conditions.exists(c,"
                " c.type == 'Accepted' && c.status == 'True'))",
                says="the route is accepted",
                namespace="default",
            ),
        ),
        seconds=120,
    ),
    known_problems=(
        KnownProblem(
            symptom="its name does not resolve to the cluster",
            cause="the DNS server of your network does not know the domain",
            fix="forward queries for the domain from that server to the address gateways.dns",
        ),
    ),
)
