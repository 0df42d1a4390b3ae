"""CoreDNS: names of services and the way to names outside."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import deployment_condition
from stockman.catalog.objects import chart_sheets, is_monitoring_on
from stockman.catalog.smoke_tests import job_smoke_test

_CONTROLLER = "node-role.kubernetes.io/control-plane"
_NEW_NODE = "node.cloudprovider.kubernetes.io/uninitialized"


def _apps(scene: ComponentContext) -> Iterator[App]:
    controllers = sum(node.is_controller for node in scene.desired.nodes)
    values: Object = {
        "fullnameOverride": "coredns",
        "k8sAppLabelOverride": "kube-dns",
        "serviceAccount": {"create": True},
        "service": {
            "name": "kube-dns",
            "clusterIP": str(scene.cluster.kubernetes.coredns_addr),
        },
        "replicaCount": 2 if controllers > 1 else 1,
        "priorityClassName": "system-cluster-critical",
        "servers": [_server()],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": _CONTROLLER, "operator": "Exists"}]}
                    ]
                }
            }
        },
        "tolerations": _tolerations(scene),
        "prometheus": {
            "service": {"enabled": is_monitoring_on(scene)},
            "monitor": {"enabled": is_monitoring_on(scene)},
        },
    }
    yield App(name="coredns", namespace=scene.namespace, sheets=chart_sheets(scene, values))


def _tolerations(scene: ComponentContext) -> list[Object]:
    found: list[Object] = [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": _CONTROLLER, "operator": "Exists", "effect": "NoSchedule"},
    ]
    if scene.on("proxmox-ccm") or scene.on("talos-ccm"):
        # A cloud controller may have to resolve a name before it can release the first node.
        found.append({"key": _NEW_NODE, "operator": "Exists", "effect": "NoSchedule"})
    return found


def _server() -> Object:
    plugins: tuple[tuple[str, str, str], ...] = (
        ("errors", "", ""),
        ("health", "", "lameduck 5s"),
        ("ready", "", ""),
        (
            "kubernetes",
            "cluster.local in-addr.arpa ip6.arpa",
            "pods verified\nfallthrough in-addr.arpa ip6.arpa",
        ),
        ("autopath", "@kubernetes", ""),
        ("forward", ". /etc/resolv.conf", ""),
        ("cache", "", "prefetch 20\nserve_stale\nservfail 0"),
        ("loop", "", ""),
        ("reload", "", ""),
        ("loadbalance", "", ""),
        ("prometheus", "0.0.0.0:9153", ""),
        ("log", "", "class error"),
    )
    return {
        "zones": [{"zone": ".", "scheme": "dns://", "use_tcp": True}],
        "port": 53,
        "plugins": [_plugin(*plugin) for plugin in plugins],
    }


def _plugin(name: str, parameters: str, block: str) -> Object:
    found: Object = {"name": name}
    if parameters:
        found["parameters"] = parameters
    if block:
        found["configBlock"] = block
    return found


COMPONENT = Component(
    name="coredns",
    about="Names of services inside of the cluster, and the way to names outside of it.",
    phase=Phase.DNS,
    apps=_apps,
    ready=(deployment_condition("coredns", "kube-system"),),
    trial=job_smoke_test(
        "a pod resolves the name of the Kubernetes API",
        "stockman-dns-trial",
        ("nslookup", "kubernetes.default.svc"),
    ),
    alerts=(
        Alert(
            name="ClusterDnsFailing",
            expr='sum(rate(coredns_dns_responses_total{rcode="SERVFAIL"}[5m]))'
            " / sum(rate(coredns_dns_responses_total[5m])) > 0.05",
            holds="10m",
            severity="critical",
            summary="More than one of twenty DNS answers inside of the cluster is a failure.",
            metrics=("coredns_dns_responses_total",),
        ),
    ),
    troubles=(
        KnownProblem(
            shows="pods of CoreDNS stop with `Loop ... detected`",
            because="the node's own resolver asks CoreDNS, which asks the node again",
            fix="set network.dns_servers to servers outside of the cluster",
        ),
    ),
)
