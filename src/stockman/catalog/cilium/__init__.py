"""Cilium: the network of pods, load balancing, policies."""

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


def _apps(scene: ComponentContext) -> Iterator[App]:
    namespace = scene.namespace
    # What comes later waits for Cilium: Cilium cannot wait for it.
    waiting: Object = {"disableWait": True}
    more = {"install": waiting, "upgrade": waiting} if has_parts_for_later(scene) else {}
    files = chart_sheets(scene, values(scene), **more)
    yield App(name="cilium", namespace=namespace, sheets=files)
    sheets = [Sheet(name="networks.yaml", objects=networks(scene))]
    if settings_of(scene).hubble_ui:
        page = route("hubble-ui", f"hubble.{scene.domain}", INTERNAL, ("hubble-ui", 80))
        sheets.append(Sheet(name="httproute.yaml", objects=(page,)))
    yield App(name="cilium-config", namespace=namespace, folder="config", sheets=tuple(sheets))


COMPONENT = Component(
    name="cilium",
    about="The network of pods: routing without kube-proxy, load balancing, policies.",
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
    trial=job_smoke_test(
        "a pod reaches the Kubernetes API through its service",
        "stockman-network-trial",
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
    troubles=(
        KnownProblem(
            shows="nodes stay NotReady with `cni plugin not initialized`, and reboot again",
            because="Cilium is not installed yet, and Talos waits ten minutes for a network",
            fix="install what stands in bootstrap/ before the time is over",
        ),
        KnownProblem(
            shows="pods cannot resolve names while the rest of the network works",
            because="BPF masquerading bypasses the node's DNS forwarding",
            fix="leave bpf.hostLegacyRouting on, as stockman sets it",
        ),
    ),
    definitions=("cilium.io",),
)
