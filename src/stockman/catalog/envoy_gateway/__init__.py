"""Envoy Gateway: the doors of the cluster, inside and outside."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import SmokeTest, deployment_condition, object_condition
from stockman.catalog.envoy_gateway.certificates import certificate
from stockman.catalog.envoy_gateway.gateways import gateways
from stockman.catalog.envoy_gateway.routes import default_routes
from stockman.catalog.envoy_gateway.traffic import traffic
from stockman.catalog.objects import INTERNAL, chart_sheets, is_monitoring_on, pod_monitor
from stockman.catalog.remote import RemoteManifests

_SOURCE = "https://github.com/envoyproxy/gateway"
_DEFINITIONS = "charts/gateway-helm/charts/crds/crds/generated"


def _apps(scene: ComponentContext) -> Iterator[App]:
    values: Object = {
        # Its own definitions come first, and those of the Gateway API are a component of their
        # own: the chart would put the experimental channel over the standard one.
        "crds": {"enabled": False},
        "config": {
            "envoyGateway": {
                "provider": {
                    "type": "Kubernetes",
                    "kubernetes": {"deploy": {"type": "GatewayNamespace"}},
                }
            }
        },
    }
    namespace = scene.namespace
    definitions = RemoteManifests(
        name="envoy-gateway",
        url=_SOURCE,
        tag=f"v{scene.tag.removeprefix('v')}",
        path=_DEFINITIONS,
        only=f"{_DEFINITIONS}/",
        prune=False,
    )
    yield App(
        name="envoy-gateway-crds",
        namespace=namespace,
        folder="crds",
        sheets=definitions.sheets(),
    )
    yield App(name="envoy-gateway", namespace=namespace, sheets=chart_sheets(scene, values))
    sheets = [
        Sheet(name="certificate.yaml", objects=(certificate(scene),)),
        Sheet(name="envoy.yaml", objects=(*gateways(scene), *traffic(scene))),
        Sheet(name="httproute.yaml", objects=default_routes(scene)),
    ]
    if is_monitoring_on(scene):
        controller = pod_monitor("envoy-gateway", {"control-plane": "envoy-gateway"})
        monitors = (_monitor(namespace), controller)
        sheets.append(Sheet(name="podmonitor.yaml", objects=monitors))
    yield App(
        name="envoy-gateway-config",
        namespace=namespace,
        folder="config",
        sheets=tuple(sheets),
        after=("cert-manager-config",),
    )


def _monitor(namespace: str) -> Object:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {"name": "envoy-proxy"},
        "spec": {
            "jobLabel": "envoy-proxy",
            "namespaceSelector": {"matchNames": [namespace]},
            "podMetricsEndpoints": [
                {"port": "metrics", "path": "/stats/prometheus", "honorLabels": True}
            ],
            "selector": {
                "matchLabels": {
                    "app.kubernetes.io/component": "proxy",
                    "app.kubernetes.io/name": "envoy",
                }
            },
        },
    }


COMPONENT = Component(
    name="envoy-gateway",
    about="The gateways of the cluster: one for the network inside, one for the world outside.",
    phase=Phase.PLATFORM,
    apps=_apps,
    ready=(
        deployment_condition("envoy-gateway", "network"),
        object_condition(
            "gateway.networking.k8s.io/v1 GatewayClass",
            "envoy",
            "the gateway class is accepted",
            of="Accepted",
        ),
    ),
    trial=SmokeTest(
        says="the internal gateway has its address and serves",
        until=(
            object_condition(
                "gateway.networking.k8s.io/v1 Gateway",
                INTERNAL,
                "the internal gateway is programmed",
                namespace="network",
                of="Programmed",
            ),
        ),
    ),
    alerts=(
        Alert(
            name="GatewayConfigurationRejected",
            expr="sum(increase(xds_nack_total[15m])) > 0",
            holds="5m",
            severity="warning",
            summary="A gateway refuses its new configuration and goes on with the old one.",
            metrics=("xds_nack_total",),
        ),
    ),
    troubles=(
        KnownProblem(
            shows="installing the chart fails with `experimental CRDs on top of standard`",
            because="the chart's own definitions of the Gateway API were turned on by values",
            fix="leave crds.enabled off: gateway-api and envoy-gateway-crds bring all of them",
        ),
        KnownProblem(
            shows="a browser says that the certificate is unknown",
            because="without a public domain, certificates come from the cluster's own authority",
            fix="trust the authority: `kubectl -n cert-manager get secret internal-ca`",
        ),
    ),
    definitions=("gateway.envoyproxy.io",),
)
