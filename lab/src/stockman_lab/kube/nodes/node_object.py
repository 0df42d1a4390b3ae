"""The Node of a machine as its kubelet writes it."""

from __future__ import annotations

from stockman_lab.kube.nodes.host import Description, Host
from stockman_lab.kube.nodes.pod_running import NETWORK_NOT_READY
from stockman_lab.kube.objects import Object, copied, entries_of, part_of, written_time
from stockman_lab.kube.schema.quantity import canonical

UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
_GPU = "nvidia.com/gpu"
_HEALTHY: tuple[tuple[str, str, str], ...] = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
_READY = ("KubeletReady", "kubelet is posting ready status")


def new_node(host: Host, now: float) -> Object:
    """What a kubelet registers."""
    description = host.description()
    taints = [dict(taint) for taint in description.taints]
    if description.waits_for_cloud:
        taints.append({"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"})
    spec: Object = {}
    if description.provider_id and not description.waits_for_cloud:
        spec["providerID"] = description.provider_id
    if taints:
        spec["taints"] = taints
    annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    return {
        "metadata": {
            "name": host.name,
            "labels": dict(description.labels),
            "annotations": {**annotations, **description.annotations},
        },
        "spec": spec,
        "status": node_status({}, description, now),
    }


def node_status(
    before: Object,
    description: Description,
    now: float,
    *,
    complaint: str = NETWORK_NOT_READY,
    gpus: int = 0,
) -> Object:
    """What a kubelet says of its machine now."""
    status = copied(part_of(before, "status"))
    more = {_GPU: str(gpus)} if gpus or _GPU in part_of(status, "capacity") else {}
    status["capacity"] = _written({**description.capacity, **more})
    status["allocatable"] = _written({**description.allocatable, **more})
    status["conditions"] = _conditions(before, now, complaint)
    if not description.waits_for_cloud or not status.get("addresses"):
        status["addresses"] = [
            {"type": kind, "address": address} for kind, address in description.addresses
        ]
    status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": 10250}}
    status["nodeInfo"] = dict(description.info)
    return status


def _written(amounts: dict[str, str]) -> dict[str, str]:
    """Amounts as servers write them: who says the same otherwise says nothing new."""
    return {name: canonical(amount) for name, amount in amounts.items()}


def _conditions(before: Object, now: float, complaint: str) -> list[Object]:
    known = {entry.get("type"): entry for entry in entries_of(before, "status", "conditions")}
    why = ("KubeletNotReady", complaint) if complaint else _READY
    told = [(name, False, reason, text) for name, reason, text in _HEALTHY]
    told.append(("Ready", not complaint, *why))
    conditions = [_condition(known.get(item[0]), item, now) for item in told]
    names = {condition["type"] for condition in conditions}
    return [*(one for name, one in known.items() if name not in names), *conditions]


def _condition(before: Object | None, told: tuple[str, bool, str, str], now: float) -> Object:
    name, holds, reason, message = told
    value = "True" if holds else "False"
    same = before is not None and before.get("status") == value
    return {
        "type": name,
        "status": value,
        "lastHeartbeatTime": written_time(now),
        "lastTransitionTime": (
            before["lastTransitionTime"] if same and before else written_time(now)
        ),
        "reason": reason,
        "message": message,
    }


def ready_status(node: Object) -> str:
    """`True`, `False` or `Unknown`; empty where nothing is said."""
    return next(
        (
            str(entry.get("status"))
            for entry in entries_of(node, "status", "conditions")
            if entry.get("type") == "Ready"
        ),
        "",
    )
