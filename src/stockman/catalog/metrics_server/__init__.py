"""metrics-server: resource metrics for `kubectl top` and autoscaling."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App
from stockman.catalog.component import Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.objects import chart_sheets

_INSECURE = "--kubelet-insecure-tls"


def _apps(context: ComponentContext) -> Iterator[App]:
    # Without an approver, serving certificates of kubelets are not signed by the cluster's CA.
    arguments = [] if context.is_enabled("talos-ccm") else [_INSECURE]
    values = {
        "args": [
            *arguments,
            "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
            "--metric-resolution=10s",
        ],
        "metrics": {"enabled": True},
        "serviceMonitor": {"enabled": context.is_enabled("prometheus-operator-crds")},
    }
    yield App(
        name="metrics-server", namespace=context.namespace, sheets=chart_sheets(context, values)
    )


def _smoke_test(node: str) -> SmokeTest:
    """Return the test of one node: a condition on all would hold where none is measured."""
    measured = Condition(
        kind="metrics.k8s.io/v1beta1 NodeMetrics",
        name=node,
        expr="has(object.usage.cpu) && has(object.usage.memory)",
        says="the node reports CPU and memory usage",
    )
    return SmokeTest(says="usage of a node can be read", until=(measured,), seconds=120)


COMPONENT = Component(
    name="metrics-server",
    about="CPU and memory usage of nodes and pods, for `kubectl top` and autoscaling.",
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
    smoke_test=_smoke_test(""),
    smoke_test_for=lambda context: _smoke_test(str(context.desired.nodes[0].name)),
    known_problems=(
        KnownProblem(
            symptom="`kubectl top nodes` reports that metrics are not available",
            cause="the kubelet's serving certificate is not signed by the cluster's CA",
            fix="enable talos-ccm, which approves these certificates, or disable it completely",
        ),
    ),
)
