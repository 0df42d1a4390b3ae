"""Objects that every Kubernetes cluster has, without name, namespace and identity."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from stockman.etcd.kubernetes.keys import ObjectKey

_RBAC = "rbac.authorization.k8s.io/v1"
_RBAC_GROUP = "rbac.authorization.k8s.io"
_BOOTSTRAPPED: dict[str, object] = {
    "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
}
_CORE_FILE = """\
.:53 {
    errors
    health {
        lameduck 5s
    }
    ready
    log . {
        class error
    }
    prometheus :9153
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    forward . /etc/resolv.conf {
        max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
"""


@dataclass(frozen=True, slots=True)
class Content:
    """What an object is beside its identity."""

    api_version: str
    kind: str
    body: dict[str, object]
    metadata: dict[str, object] = field(default_factory=dict)


Seed: TypeAlias = tuple[ObjectKey, Content]


def namespace(name: str) -> Seed:
    """A namespace that is there to stay."""
    body: dict[str, object] = {
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }
    labels: dict[str, object] = {"labels": {"kubernetes.io/metadata.name": name}}
    return ObjectKey("namespaces", name), Content("v1", "Namespace", body, labels)


def service_account(space: str, name: str) -> Seed:
    """An account of a namespace."""
    return ObjectKey("serviceaccounts", name, space), Content("v1", "ServiceAccount", {})


def root_ca(space: str, certificate: str) -> Seed:
    """By what pods of a namespace know the API server."""
    why = "Contains a CA bundle that can be used to verify the kube-apiserver."
    return (
        ObjectKey("configmaps", "kube-root-ca.crt", space),
        Content(
            "v1",
            "ConfigMap",
            {"data": {"ca.crt": certificate}},
            {"annotations": {"kubernetes.io/description": why}},
        ),
    )


def core_file() -> Seed:
    """How CoreDNS is set up."""
    object_key = ObjectKey("configmaps", "coredns", "kube-system")
    return object_key, Content("v1", "ConfigMap", {"data": {"Corefile": _CORE_FILE}})


def cluster_info(endpoint: str, certificate: str) -> Seed:
    """Where the API is, for those who want to join."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "", "cluster": {"server": endpoint, "certificate-authority-data": certificate}}
        ],
    }
    object_key = ObjectKey("configmaps", "cluster-info", "kube-public")
    return object_key, Content("v1", "ConfigMap", {"data": {"kubeconfig": json.dumps(config)}})


def roles() -> Iterator[Seed]:
    """Roles and who has them."""
    every = ["*"]
    rules = [
        {"apiGroups": every, "resources": every, "verbs": every},
        {"nonResourceURLs": every, "verbs": every},
    ]
    yield _role("cluster-admin", rules)
    yield _bound("cluster-admin", "cluster-admin", "system:masters")
    names = ["namespaces", "pods", "services"]
    yield _role(
        "system:coredns",
        [
            {"apiGroups": [""], "resources": ["endpoints", *names], "verbs": ["list", "watch"]},
            {
                "apiGroups": ["discovery.k8s.io"],
                "resources": ["endpointslices"],
                "verbs": ["list", "watch"],
            },
        ],
    )
    yield _bound("system-bootstrap-approve-node-client-csr", _APPROVING, "system:bootstrappers")
    yield _bound("system-bootstrap-node-bootstrapper", _BOOTSTRAPPING, "system:bootstrappers")
    yield _bound("system-bootstrap-node-renewal", _RENEWING, "system:nodes")


_APPROVING = "system:certificates.k8s.io:certificatesigningrequests:nodeclient"
_BOOTSTRAPPING = "system:node-bootstrapper"
_RENEWING = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient"


def _role(name: str, rules: list[dict[str, list[str]]]) -> Seed:
    content = Content(_RBAC, "ClusterRole", {"rules": rules}, _BOOTSTRAPPED)
    return ObjectKey("clusterroles", name), content


def _bound(name: str, role: str, group: str) -> Seed:
    body: dict[str, object] = {
        "roleRef": {"apiGroup": _RBAC_GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC_GROUP, "kind": "Group", "name": group}],
    }
    content = Content(_RBAC, "ClusterRoleBinding", body, _BOOTSTRAPPED)
    return ObjectKey("clusterrolebindings", name), content


def priority_classes() -> Iterator[Seed]:
    """The two classes above all others."""
    for name, value in (
        ("system-cluster-critical", 2_000_000_000),
        ("system-node-critical", 2_000_001_000),
    ):
        body: dict[str, object] = {"value": value, "preemptionPolicy": "PreemptLowerPriority"}
        content = Content("scheduling.k8s.io/v1", "PriorityClass", body)
        yield ObjectKey("priorityclasses", name), content


def service(
    place: ObjectKey,
    address: str,
    labels: dict[str, str],
    ports: Sequence[tuple[str, str, int, int]],
) -> Seed:
    """A service: ports are name, protocol, port and port of the pods."""
    spec: dict[str, object] = {
        "clusterIP": address,
        "clusterIPs": [address],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv6" if ":" in address else "IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "ports": [
            {"name": name, "protocol": protocol, "port": port, "targetPort": target}
            for name, protocol, port, target in ports
        ],
        "sessionAffinity": "None",
        "type": "ClusterIP",
    }
    if "k8s-app" in labels:
        spec["selector"] = {"k8s-app": labels["k8s-app"]}
    body: dict[str, object] = {"spec": spec, "status": {"loadBalancer": {}}}
    return place, Content("v1", "Service", body, {"labels": labels})


def api_endpoints(addresses: Sequence[str]) -> Seed:
    """Where the API servers are."""
    subset = {
        "addresses": [{"ip": address} for address in addresses],
        "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}],
    }
    labels: dict[str, object] = {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}
    content = Content("v1", "Endpoints", {"subsets": [subset]}, labels)
    return ObjectKey("endpoints", "kubernetes", "default"), content


def lease(space: str, name: str, holder: str, renewed: str) -> Seed:
    """A sign of life, or of being the one who leads."""
    moment = renewed.replace("Z", ".000000Z")
    spec: dict[str, object] = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 40 if space == "kube-node-lease" else 15,
        "renewTime": moment,
    }
    content = Content("coordination.k8s.io/v1", "Lease", {"spec": spec})
    return ObjectKey("leases", name, space), content
