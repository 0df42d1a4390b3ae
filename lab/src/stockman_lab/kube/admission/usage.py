"""What objects count for where quotas limit how much there may be in a namespace."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.objects import Object, entries_of, part_of
from stockman_lab.kube.schema.quantity import added, amount

Used = dict[str, str]
_BY_NAME = frozenset(
    {"configmaps", "secrets", "services", "persistentvolumeclaims", "replicationcontrollers"}
    | {"resourcequotas", "pods"}
)
"""Kinds that are counted by their plain name."""
_PLAIN = frozenset({"cpu", "memory", "ephemeral-storage"})
"""Resources whose requests are also meant by their name alone."""
_ENDED = frozenset({"Succeeded", "Failed"})


def usage(qualified: str, content: Object) -> Used:
    """What one object counts for, by the names that quotas use."""
    used = {f"count/{qualified}": "1"}
    if qualified in _BY_NAME:
        used[qualified] = "1"
    if qualified == "pods":
        if part_of(content, "status").get("phase") in _ENDED:
            return {"count/pods": "1"}
        used |= _of_pod(content)
    elif qualified == "persistentvolumeclaims":
        used |= _of_claim(content)
    elif qualified == "services":
        used |= _of_service(content)
    return used


def sum_of(every: Iterable[Used]) -> Used:
    """What many objects count for together."""
    total: Used = {}
    for one in every:
        for name, value in one.items():
            total[name] = added(total.get(name, "0"), value)
    return total


def _of_pod(pod: Object) -> Used:
    used: Used = {}
    for name, value in pod_total(pod, "requests").items():
        used[f"requests.{name}"] = value
        if name in _PLAIN:
            used[name] = value
    for name, value in pod_total(pod, "limits").items():
        used[f"limits.{name}"] = value
    return used


def pod_total(pod: Object, part: str) -> Used:
    """What all containers of a pod ask for, or may have."""
    total = sum_of(part_of(one, "resources", part) for one in entries_of(pod, "spec", "containers"))
    for entry in entries_of(pod, "spec", "initContainers"):
        for name, value in part_of(entry, "resources", part).items():
            if amount(value) > amount(total.get(name, "0")):
                total[name] = str(value)
    return total


def claim_storage(claim: Object) -> str:
    """How much a claim asks for."""
    return str(part_of(claim, "spec", "resources", "requests").get("storage", "0"))


def _of_claim(claim: Object) -> Used:
    used = {"requests.storage": claim_storage(claim)}
    name = part_of(claim, "spec").get("storageClassName")
    if name:
        head = f"{name}.storageclass.storage.k8s.io"
        used[f"{head}/requests.storage"] = used["requests.storage"]
        used[f"{head}/persistentvolumeclaims"] = "1"
    return used


def _of_service(service: Object) -> Used:
    spec = part_of(service, "spec")
    ports = entries_of(spec, "ports")
    match spec.get("type"):
        case "NodePort":
            return {"services.nodeports": str(len(ports))}
        case "LoadBalancer":
            shown = ports if spec.get("allocateLoadBalancerNodePorts", True) else []
            return {"services.nodeports": str(len(shown)), "services.loadbalancers": "1"}
    return {}
