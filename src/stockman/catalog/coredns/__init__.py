"""CoreDNS: names of services, and forwarding of other names."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import Alert, Component, ComponentContext, KnownProblem, Phase
from stockman.catalog.conditions import deployment_condition, job_smoke_test
from stockman.catalog.objects import chart_sheets, is_monitoring_on

_CONTROLLER = "node-role.kubernetes.io/control-plane"
_NEW_NODE = "node.cloudprovider.kubernetes.io/uninitialized"


def _apps(context: ComponentContext) -> Iterator[App]:
    controllers = sum(node.is_controller for node in context.desired.nodes)
    values: Object = {
        "fullnameOverride": "coredns",
        "k8sAppLabelOverride": "kube-dns",
        "serviceAccount": {"create": True},
        "service": {
            "name": "kube-dns",
            "clusterIP": str(context.cluster.kubernetes.coredns_addr),
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
        "tolerations": _tolerations(context),
        "prometheus": {
            "service": {"enabled": is_monitoring_on(context)},
            "monitor": {"enabled": is_monitoring_on(context)},
        },
    }
    yield App(name="coredns", namespace=context.namespace, sheets=chart_sheets(context, values))


def _tolerations(context: ComponentContext) -> list[Object]:
    tolerations: list[Object] = [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": _CONTROLLER, "operator": "Exists", "effect": "NoSchedule"},
    ]
    if context.is_enabled("proxmox-ccm") or context.is_enabled("talos-ccm"):
        # A cloud controller may have to resolve a name before it can initialize the first node.
        tolerations.append({"key": _NEW_NODE, "operator": "Exists", "effect": "NoSchedule"})
    return tolerations


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
    plugin: Object = {"name": name}
    if parameters:
        plugin["parameters"] = parameters
    if block:
        plugin["configBlock"] = block
    return plugin


COMPONENT = Component(
    name="coredns",
    about="DNS for services of the cluster, and forwarding of all other names.",
    phase=Phase.DNS,
    apps=_apps,
    ready=(deployment_condition("coredns", "kube-system"),),
    smoke_test=job_smoke_test(
        "a pod resolves the name of the Kubernetes API",
        "stockman-dns-test",
        ("nslookup", "kubernetes.default.svc"),
    ),
    alerts=(
        Alert(
            name="ClusterDnsFailing",
            expr='sum(rate(coredns_dns_responses_total{rcode="SERVFAIL"}[5m]))'
            " / sum(rate(coredns_dns_responses_total[5m])) > 0.05",
            holds="10m",
            severity="critical",
            summary="More than 5 % of DNS responses in the cluster are errors.",
            metrics=("coredns_dns_responses_total",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="pods of CoreDNS stop with `Loop ... detected`",
            cause="the node's resolver queries CoreDNS, which queries the node again",
            fix="set network.dns_servers to servers outside of the cluster",
        ),
    ),
)
