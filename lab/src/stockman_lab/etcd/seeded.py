"""A first content under `/registry`: what an API server itself puts into an empty etcd.

Values are JSON, which a kube-apiserver reads as it reads its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_network

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.core.dice import Dice
from stockman_lab.etcd.keyspace import Keyspace, WriteTransaction

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_PRIORITIES = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


def seed_server(keyspace: Keyspace, service_cidr: str, dice: Dice, now: float) -> int:
    """Put in what an API server itself brings; return the last revision."""
    created = datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for key, content in _objects(service_cidr):
        metadata: dict[str, object] = {
            "name": key.name,
            **({"namespace": key.namespace} if key.namespace else {}),
            "uid": dice.uuid(),
            "creationTimestamp": created,
        }
        labels = content.pop("labels", None)
        if labels is not None:
            metadata["labels"] = labels
        change = WriteTransaction(keyspace)
        head = {name: content.pop(name) for name in ("apiVersion", "kind")}
        change.put(key.key, stored_json({**head, "metadata": metadata, **content}))
        change.commit()
    return keyspace.revision


def stored_json(content: dict[str, object]) -> bytes:
    """Return an object as it is stored."""
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _objects(service_cidr: str) -> Iterator[tuple[ObjectKey, dict[str, object]]]:
    """Objects by their keys, with their labels beside `apiVersion` and `kind`."""
    for name in NAMESPACES:
        yield (
            ObjectKey("namespaces", name),
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "labels": {"kubernetes.io/metadata.name": name},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            },
        )
    for name, value in _PRIORITIES.items():
        yield (
            ObjectKey("priorityclasses", name),
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "value": value,
                "preemptionPolicy": "PreemptLowerPriority",
            },
        )
    address = str(ip_network(service_cidr)[1])
    yield (
        ObjectKey("services", "kubernetes", "default"),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
            "spec": {
                "clusterIP": address,
                "clusterIPs": [address],
                "internalTrafficPolicy": "Cluster",
                "ipFamilies": ["IPv6" if ":" in address else "IPv4"],
                "ipFamilyPolicy": "SingleStack",
                "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
                "sessionAffinity": "None",
                "type": "ClusterIP",
            },
            "status": {"loadBalancer": {}},
        },
    )
