"""Usage of nodes, as metrics-server serves it below `metrics.k8s.io` while it is available.

Source: https://github.com/kubernetes/metrics, `pkg/apis/metrics/v1beta1/types.go`. The lab has no
load: a node uses what its pods request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.failures import not_found
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of, written_time
from stockman_lab.kube.programs import is_ready, purposes
from stockman_lab.kube.schema.crd import Crd, read_crd
from stockman_lab.kube.schema.quantity import added
from stockman_lab.kube.store.entries import Entry
from stockman_lab.kube.store.store import Store

GROUP, _VERSION = "metrics.k8s.io", "v1beta1"
_SERVICE = ObjectKey("apiservices", f"{_VERSION}.{GROUP}").key
_NODES, _PODS = ObjectKey("nodes", "").key + b"/", ObjectKey("pods", "").key + b"/"


def served_kinds(store: Store) -> list[Crd]:
    """Return the kinds of the API. Empty: no metrics-server is available."""
    entry = store.get(_SERVICE, cached=True)
    conditions = entries_of(entry.content, "status", "conditions") if entry is not None else []
    available = any(
        condition.get("type") == "Available" and condition.get("status") == "True"
        for condition in conditions
    )
    return [_node_metrics_kind()] if available else []


@cache
def _node_metrics_kind() -> Crd:
    schema: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version: Object = {"name": _VERSION, "served": True, "schema": {"openAPIV3Schema": schema}}
    names: Object = {"plural": "nodes", "singular": "", "kind": "NodeMetrics"}
    spec: Object = {"group": GROUP, "scope": "Cluster", "names": names, "versions": [version]}
    kind = read_crd({"metadata": {"name": f"nodes.{GROUP}"}, "spec": spec})
    readable = (replace(resource, verbs=("get", "list")) for resource in kind.resources)
    return replace(kind, resources=tuple(readable))


def node_metrics(call: Call) -> list[Entry]:
    """Return the usage of all nodes, or of the node of the request; raises `Failure`."""
    nodes = call.store.list(_NODES).entries if _is_measured(call.store) else []
    entries = [_node_entry(call, node.content) for node in nodes]
    if not call.name:
        return entries
    named = [entry for entry in entries if metadata_of(entry.content)["name"] == call.name]
    if not named:
        raise not_found(call.named, call.name)
    return named


def _is_measured(store: Store) -> bool:
    """Whether a metrics-server is ready; nodes without metrics are left out of its answers."""
    pods = (entry.content for entry in store.list(_PODS, cached=True).entries)
    return any("metrics" in purposes(pod) and is_ready(pod) for pod in pods)


def _node_entry(call: Call, node: Object) -> Entry:
    name = str(metadata_of(node)["name"])
    now = written_time(call.store.now)
    content: Object = {
        "kind": "NodeMetrics",
        "apiVersion": f"{GROUP}/{_VERSION}",
        "metadata": {"name": name, "creationTimestamp": now},
        "timestamp": now,
        "window": "20s",
        "usage": _usage(call.store, name),
    }
    return Entry(f"/registry/{GROUP}/nodes/{name}".encode(), 0, 0, content)


def _usage(store: Store, node: str) -> Object:
    usage = {"cpu": "0", "memory": "0"}
    for requests in _requests(store, node):
        for resource, used in usage.items():
            usage[resource] = added(used, str(requests.get(resource, "0")))
    return dict(usage)


def _requests(store: Store, node: str) -> Iterator[Object]:
    for pod in store.list(_PODS, cached=True).entries:
        if part_of(pod.content, "spec").get("nodeName") == node:
            for container in entries_of(pod.content, "spec", "containers"):
                yield part_of(container, "resources", "requests")
