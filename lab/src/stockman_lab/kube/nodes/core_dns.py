"""The DNS of a cluster, as Talos brings it unless its configuration says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from typing import TYPE_CHECKING

from stockman_lab.kube.objects import Object

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective_record import Effective

SYSTEM = "kube-system"
RBAC = "rbac.authorization.k8s.io"


def made(version: str, kind: str, name: str, space: str = "", **more: object) -> Object:
    metadata: Object = {"name": name, **({"namespace": space} if space else {})}
    labels = more.pop("labels", None)
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def account_of(name: str) -> Object:
    return made("v1", "ServiceAccount", name, SYSTEM)


def bound(name: str, role: str, account: str) -> Object:
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    subjects = [{"kind": "ServiceAccount", "name": account, "namespace": SYSTEM}]
    return made(f"{RBAC}/v1", "ClusterRoleBinding", name, roleRef=reference, subjects=subjects)


def role(name: str, rules: Sequence[Object]) -> Object:
    return made(f"{RBAC}/v1", "ClusterRole", name, rules=list(rules))


_LABELS = {"k8s-app": "kube-dns"}
_NAMED = {**_LABELS, "kubernetes.io/name": "CoreDNS"}
_TENTH = 10
"""Which address of the network of services is that of the DNS."""
_RULES = [
    {
        "apiGroups": [""],
        "resources": ["endpoints", "services", "pods", "namespaces"],
        "verbs": ["list", "watch"],
    },
    {
        "apiGroups": ["discovery.k8s.io"],
        "resources": ["endpointslices"],
        "verbs": ["list", "watch"],
    },
]


def _corefile(domain: str) -> str:
    zones = f"{domain} in-addr.arpa ip6.arpa"
    plugins = (
        "errors",
        "health {\n        lameduck 5s\n    }",
        "ready",
        f"kubernetes {zones} {{\n        pods insecure\n        ttl 30\n    }}",
        "prometheus :9153",
        "forward . /etc/resolv.conf {\n        max_concurrent 1000\n    }",
        "cache 30",
        "loop",
        "reload",
        "loadbalance",
    )
    return ".:53 {\n" + "".join(f"    {plugin}\n" for plugin in plugins) + "}\n"


def workload(config: Effective) -> Iterator[Object]:
    """Everything but the Service."""
    yield account_of("coredns")
    yield role("system:coredns", _RULES)
    yield bound("system:coredns", "system:coredns", "coredns")
    corefile = {"Corefile": _corefile(config.kubernetes.dns_domain)}
    yield made("v1", "ConfigMap", "coredns", SYSTEM, data=corefile)
    key = "node-role.kubernetes.io/control-plane"
    term = {"labelSelector": {"matchLabels": _LABELS}, "topologyKey": "kubernetes.io/hostname"}
    container = {
        "name": "coredns",
        "image": config.kubernetes.core_dns.image,
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [
            {"containerPort": 53, "name": "dns", "protocol": "UDP"},
            {"containerPort": 53, "name": "dns-tcp", "protocol": "TCP"},
            {"containerPort": 9153, "name": "metrics", "protocol": "TCP"},
        ],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181, "scheme": "HTTP"}},
        "resources": {"limits": {"memory": "170Mi"}, "requests": {"cpu": "100m", "memory": "70Mi"}},
        "volumeMounts": [{"name": "config-volume", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    spec = {
        "affinity": {
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
        },
        "containers": [container],
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "coredns",
        "tolerations": [
            {"effect": "NoSchedule", "key": key, "operator": "Exists"},
            {
                "effect": "NoSchedule",
                "key": "node.cloudprovider.kubernetes.io/uninitialized",
                "operator": "Exists",
            },
        ],
        "volumes": [
            {
                "name": "config-volume",
                "configMap": {
                    "name": "coredns",
                    "items": [{"key": "Corefile", "path": "Corefile"}],
                },
            }
        ],
    }
    whole = {
        "replicas": 2,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        "selector": {"matchLabels": _LABELS},
        "template": {"metadata": {"labels": _LABELS}, "spec": spec},
    }
    yield made("apps/v1", "Deployment", "coredns", SYSTEM, labels=_NAMED, spec=whole)


def service(config: Effective) -> Object:
    """Where pods ask for names, for each family of addresses that services have."""
    networks = [ip_network(service_subnet) for service_subnet in config.kubernetes.service_subnets]
    by_version = {network.version: str(network[_TENTH]) for network in reversed(networks)}
    addresses = [by_version[item] for item in sorted(by_version)]
    result = made(
        "v1",
        "Service",
        "kube-dns",
        SYSTEM,
        labels={**_NAMED, "kubernetes.io/cluster-service": "true"},
        spec={
            "selector": _LABELS,
            "clusterIP": addresses[0],
            "clusterIPs": addresses,
            "ipFamilies": [f"IPv{item}" for item in sorted(by_version)],
            "ipFamilyPolicy": "RequireDualStack" if len(addresses) > 1 else "SingleStack",
            "ports": [
                {"name": name, "port": port, "protocol": protocol, "targetPort": port}
                for name, port, protocol in (
                    ("dns", 53, "UDP"),
                    ("dns-tcp", 53, "TCP"),
                    ("metrics", 9153, "TCP"),
                )
            ],
        },
    )
    result["metadata"]["annotations"] = {
        "prometheus.io/port": "9153",
        "prometheus.io/scrape": "true",
    }
    return result
