"""echo: a small web server that answers with the request, to see that the way in works."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest, deployment_condition
from stockman.catalog.objects import GATEWAYS_NAMESPACE, chart_sheets, public_gateway


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {
        "replicaCount": 2 if len(scene.desired.nodes) > 1 else 1,
        "config": {
            "kubernetes": True,
            "trustedProxies": [str(scene.cluster.kubernetes.pod_cidr)],
        },
        "httpRoute": {
            "enabled": True,
            "hostnames": [f"{{{{ .Release.Name }}}}.{scene.domain}"],
            "parentRefs": [{"name": public_gateway(scene), "namespace": GATEWAYS_NAMESPACE}],
        },
        "monitoring": {"serviceMonitor": {"enabled": scene.on("prometheus-operator-crds")}},
        "resources": {"requests": {"cpu": "10m"}, "limits": {"memory": "64Mi"}},
    }
    yield App(name="echo", namespace=scene.namespace, sheets=chart_sheets(scene, values))


COMPONENT = Component(
    name="echo",
    about="A web server that answers with the request: proof that the way into the cluster works.",
    phase=Phase.APPLICATIONS,
    apps=_apps,
    ready=(deployment_condition("echo", "default"),),
    trial=SmokeTest(
        says="the route of echo is accepted by a gateway",
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
    troubles=(
        KnownProblem(
            shows="its name does not lead to the cluster",
            because="nobody has told the DNS server of your network about the domain",
            fix="let that server ask the address gateways.dns for the domain",
        ),
    ),
)
