"""metrics-server: figures for `kubectl top` and for autoscaling."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.objects import chart_sheets

_INSECURE = "--kubelet-insecure-tls"


def _apps(scene: ComponentContext) -> Iterator[App]:
    # Serving certificates of kubelets are signed by the cluster only where something approves them.
    arguments = [] if scene.on("talos-ccm") else [_INSECURE]
    values = {
        "args": [
            *arguments,
            "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
            "--metric-resolution=10s",
        ],
        "metrics": {"enabled": True},
        "serviceMonitor": {"enabled": scene.on("prometheus-operator-crds")},
    }
    yield App(name="metrics-server", namespace=scene.namespace, sheets=chart_sheets(scene, values))


COMPONENT = Component(
    name="metrics-server",
    about="CPU and memory figures of nodes and pods, for `kubectl top` and autoscaling.",
    phase=Phase.PLATFORM,
    apps=_apps,
    ready=(
        Condition(
            kind="apiregistration.k8s.io/v1 APIService",
            name="v1beta1.metrics.k8s.io",
            expr="object.status.conditions.exists(c, c.type == 'Available' && c.status == 'True')",
            says="the metrics API is available",
        ),
    ),
    trial=SmokeTest(
        says="figures of a node can be read",
        until=(
            Condition(
                kind="metrics.k8s.io/v1beta1 NodeMetrics",
                name="",
                expr="has(object.usage.cpu) && has(object.usage.memory)",
                says="every node has figures for CPU and memory",
            ),
        ),
        seconds=120,
    ),
    troubles=(
        KnownProblem(
            shows="`kubectl top nodes` says that metrics are not available",
            because="the kubelet's serving certificate is not signed by the cluster",
            fix="turn talos-ccm on, which approves these certificates, or leave it off altogether",
        ),
    ),
)
