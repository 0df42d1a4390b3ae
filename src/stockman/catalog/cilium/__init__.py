"""Cilium: pod network, load balancing, policies."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object, Sheet
from stockman.catalog.cilium.networks import networks
from stockman.catalog.cilium.settings import CiliumSettings, check, settings_of
from stockman.catalog.cilium.values import has_parts_for_later, values
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import Condition, daemonset_condition, deployment_condition
from stockman.catalog.objects import INTERNAL, chart_sheets, route
from stockman.catalog.smoke_tests import job_smoke_test


def _apps(context: ComponentContext) -> Iterator[App]:
    namespace = context.namespace
    # Later components depend on Cilium, so Cilium cannot depend on them.
    waiting: Object = {"disableWait": True}
    more = {"install": waiting, "upgrade": waiting} if has_parts_for_later(context) else {}
    files = chart_sheets(context, values(context), **more)
    yield App(name="cilium", namespace=namespace, sheets=files)
    sheets = [Sheet(name="networks.yaml", objects=networks(context))]
    if settings_of(context).hubble_ui:
        page = route("hubble-ui", f"hubble.{context.domain}", INTERNAL, ("hubble-ui", 80))
        sheets.append(Sheet(name="httproute.yaml", objects=(page,)))
    yield App(name="cilium-config", namespace=namespace, folder="config", sheets=tuple(sheets))


COMPONENT = Component(
    name="cilium",
    about="Pod network: routing without kube-proxy, load balancing, network policies.",
    phase=Phase.NETWORK,
    apps=_apps,
    settings=CiliumSettings,
    check=check,
    ready=(
        daemonset_condition("cilium", "kube-system"),
        deployment_condition("cilium-operator", "kube-system"),
        Condition(
            kind="v1 Node",
            name="",
            expr="object.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
            says="every node is ready",
        ),
    ),
    smoke_test=job_smoke_test(
        "a pod reaches the Kubernetes API through its service",
        "stockman-network-test",
        ("/agnhost", "connect", "kubernetes.default.svc:443", "--timeout=10s"),
    ),
    alerts=(
        Alert(
            name="CiliumUnreachableNodes",
            expr="max by (pod) (cilium_unreachable_nodes) > 0",
            holds="10m",
            severity="critical",
            summary="Cilium on {{ $labels.pod }} cannot reach some nodes.",
            metrics=("cilium_unreachable_nodes",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="nodes stay NotReady with `cni plugin not initialized`, and reboot repeatedly",
            cause="Cilium is not installed yet; Talos waits ten minutes for a network",
            fix="install the releases in bootstrap/ before the timeout",
        ),
        KnownProblem(
            symptom="pods cannot resolve names while the rest of the network works",
            cause="BPF masquerading bypasses the node's DNS forwarding",
            fix="keep bpf.hostLegacyRouting on, as set by stockman",
        ),
    ),
    definitions=("cilium.io",),
)
