"""Envoy Gateway: the internal and external gateways of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet, manifest
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import SmokeTest, deployment_condition, object_condition
from stockman.catalog.envoy_gateway.gateways import certificate, default_routes, gateways, traffic
from stockman.catalog.objects import (
    INTERNAL,
    RemoteManifests,
    chart_sheets,
    is_monitoring_on,
    pod_monitor,
)

_SOURCE = "https://github.com/envoyproxy/gateway"
_DEFINITIONS = "charts/gateway-helm/charts/crds/crds/generated"


def _apps(context: ComponentContext) -> Iterator[App]:
    values: Object = {
        # Its CRDs are installed first, and those of the Gateway API by another component: the chart
        # would replace the standard channel with the experimental one.
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
    namespace = context.namespace
    definitions = RemoteManifests(
        name="envoy-gateway",
        url=_SOURCE,
        tag=f"v{context.tag.removeprefix('v')}",
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
    yield App(name="envoy-gateway", namespace=namespace, sheets=chart_sheets(context, values))
    sheets = [
        Sheet(name="certificate.yaml", objects=(certificate(context),)),
        Sheet(name="envoy.yaml", objects=(*gateways(context), *traffic(context))),
        Sheet(name="httproute.yaml", objects=default_routes(context)),
    ]
    if is_monitoring_on(context):
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
    labels = {"app.kubernetes.io/component": "proxy", "app.kubernetes.io/name": "envoy"}
    return manifest(
        "monitoring.coreos.com/v1",
        "PodMonitor",
        "envoy-proxy",
        jobLabel="envoy-proxy",
        namespaceSelector={"matchNames": [namespace]},
        podMetricsEndpoints=[{"port": "metrics", "path": "/stats/prometheus", "honorLabels": True}],
        selector={"matchLabels": labels},
    )


COMPONENT = Component(
    name="envoy-gateway",
    about="Gateways of the cluster: an internal one and an external one.",
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
    smoke_test=SmokeTest(
        says="the internal gateway has an address and is programmed",
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
            summary="A gateway rejects its new configuration and keeps the old one.",
            metrics=("xds_nack_total",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="installing the chart fails with `experimental CRDs on top of standard`",
            cause="values of the chart enable its own CRDs of the Gateway API",
            fix="keep crds.enabled off: gateway-api and envoy-gateway-crds contain all of them",
        ),
        KnownProblem(
            symptom="a browser reports an unknown certificate",
            cause="without a public domain, certificates are issued by the cluster's own CA",
            fix="trust the CA: `kubectl -n cert-manager get secret internal-ca`",
        ),
    ),
    definitions=("gateway.envoyproxy.io",),
)
