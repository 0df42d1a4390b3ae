"""A first content under `/registry`: what a cluster that just came up has in its etcd.

Values are JSON, which a kube-apiserver reads as it reads its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_network

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.core.dice import Dice
from stockman_lab.etcd import system_objects
from stockman_lab.etcd.keyspace import Change, Keyspace
from stockman_lab.etcd.system_objects import Content, Seed

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_ACCOUNTS = ("coredns", "generic-garbage-collector", "kube-proxy", "namespace-controller")


@dataclass(frozen=True)
class SeededNode:
    """A machine as its kubelet describes it."""

    name: str
    address: str
    kubelet: str
    """With its `v`."""
    talos: str
    """With its `v`."""
    is_controller: bool = False
    uuid: str = ""
    pod_cidr: str = ""
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Surroundings:
    """What the objects of a cluster tell about it."""

    endpoint: str
    """Of the Kubernetes API, such as `https://10.42.0.10:6443`."""
    ca: str = ""
    """Certificate of the Kubernetes CA; empty: objects that show it have an empty one."""
    service_cidr: str = "10.96.0.0/12"


def seed(
    keyspace: Keyspace,
    surroundings: Surroundings,
    nodes: Sequence[SeededNode],
    dice: Dice,
    now: float,
) -> int:
    """Put the first objects into a keyspace, each at its own revision; returns the last one."""
    _put(keyspace, _objects(surroundings, nodes, _created(now)), dice, now)
    return keyspace.revision


def seed_server(keyspace: Keyspace, service_cidr: str, dice: Dice, now: float) -> int:
    """Put in what an API server itself brings; returns the last revision."""
    _put(keyspace, _of_server(service_cidr), dice, now)
    return keyspace.revision


def _of_server(service_cidr: str) -> Iterator[Seed]:
    for name in NAMESPACES:
        yield system_objects.namespace(name)
    yield from system_objects.priority_classes()
    yield _api_service(service_cidr)


def _api_service(service_cidr: str) -> Seed:
    return system_objects.service(
        ObjectKey("services", "kubernetes", "default"),
        str(ip_network(service_cidr)[1]),
        {"component": "apiserver", "provider": "kubernetes"},
        [("https", "TCP", 443, 6443)],
    )


def _created(now: float) -> str:
    return datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _put(keyspace: Keyspace, objects: Iterable[Seed], dice: Dice, now: float) -> None:
    created = _created(now)
    for place, content in objects:
        metadata = {
            "name": place.name,
            **({"namespace": place.namespace} if place.namespace else {}),
            "uid": dice.uuid(),
            "creationTimestamp": created,
            **content.metadata,
        }
        head = {"apiVersion": content.api_version, "kind": content.kind, "metadata": metadata}
        change = Change(keyspace)
        change.put(place.key, stored_json({**head, **content.body}))
        change.commit()


def stored_json(content: dict[str, object]) -> bytes:
    """An object as it is stored."""
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _objects(
    surroundings: Surroundings, nodes: Sequence[SeededNode], created: str
) -> Iterator[Seed]:
    for name in NAMESPACES:
        yield system_objects.namespace(name)
    for name in NAMESPACES:
        yield system_objects.root_ca(name, surroundings.ca)
        yield system_objects.service_account(name, "default")
    for name in _ACCOUNTS:
        yield system_objects.service_account("kube-system", name)
    yield from system_objects.roles()
    yield from system_objects.priority_classes()
    yield from _services(surroundings, nodes)
    yield system_objects.core_file()
    yield system_objects.cluster_info(surroundings.endpoint, surroundings.ca)
    for node in nodes:
        yield _node(node, created)
        yield system_objects.lease("kube-node-lease", node.name, node.name, created)
    for name in ("kube-controller-manager", "kube-scheduler"):
        leading = next((one.name for one in nodes if one.is_controller), "")
        if leading:
            yield system_objects.lease("kube-system", name, f"{leading}_{name}", created)


def _services(surroundings: Surroundings, nodes: Sequence[SeededNode]) -> Iterator[Seed]:
    dns = str(ip_network(surroundings.service_cidr)[10])
    yield _api_service(surroundings.service_cidr)
    yield system_objects.service(
        ObjectKey("services", "kube-dns", "kube-system"),
        dns,
        {"k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS"},
        [("dns", "UDP", 53, 53), ("dns-tcp", "TCP", 53, 53), ("metrics", "TCP", 9153, 9153)],
    )
    controllers = [node.address for node in nodes if node.is_controller]
    if controllers:
        yield system_objects.api_endpoints(controllers)


def _node(node: SeededNode, created: str) -> Seed:
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        **node.labels,
    }
    spec: dict[str, object] = {}
    if node.pod_cidr:
        spec |= {"podCIDR": node.pod_cidr, "podCIDRs": [node.pod_cidr]}
    if node.is_controller:
        labels["node-role.kubernetes.io/control-plane"] = ""
        key = "node-role.kubernetes.io/control-plane"
        spec["taints"] = [{"effect": "NoSchedule", "key": key}]
    system = {
        "architecture": "amd64",
        "bootID": node.uuid,
        "containerRuntimeVersion": "containerd://2.1.5",
        "kernelVersion": "6.12.57-talos",
        "kubeProxyVersion": "",
        "kubeletVersion": node.kubelet,
        "machineID": node.uuid.replace("-", ""),
        "operatingSystem": "linux",
        "osImage": f"Talos ({node.talos})",
        "systemUUID": node.uuid,
    }
    status = {
        "addresses": [
            {"type": "InternalIP", "address": node.address},
            {"type": "Hostname", "address": node.name},
        ],
        "conditions": [_ready(created)],
        "nodeInfo": system,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
    }
    object_key = ObjectKey("nodes", node.name)
    return object_key, Content("v1", "Node", {"spec": spec, "status": status}, {"labels": labels})


def _ready(created: str) -> dict[str, str]:
    return {
        "type": "Ready",
        "status": "True",
        "lastHeartbeatTime": created,
        "lastTransitionTime": created,
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
    }
