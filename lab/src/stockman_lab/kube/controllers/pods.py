"""Pods as controllers see them: whether they count, are ready, are available."""

from __future__ import annotations

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.controllers.client import Client, Refused, read_time
from stockman_lab.kube.controllers.objects import ObjectChange, Objects, controller_of, named_key
from stockman_lab.kube.controllers.ownership import controller_reference
from stockman_lab.kube.objects import Object, Tree, copied, entries_of, metadata_of, part_of


def resolved(value: Tree, total: int, *, up: bool) -> int:
    """`3` or `25%` of so many, rounded up or down."""
    if isinstance(value, int):
        return value
    share = int(str(value).removesuffix("%")) * total
    return -(-share // 100) if up else share // 100


def without_zeros(status: Object) -> Object:
    """A status without the numbers that are not written when they are nought."""
    return {name: one for name, one in status.items() if one not in (0, None, [], {})}


_ENDED = frozenset({"Succeeded", "Failed"})
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_COST = "controller.kubernetes.io/pod-deletion-cost"


def phase(pod: Object) -> str:
    """Pending, Running, Succeeded, Failed or Unknown."""
    return str(part_of(pod, "status").get("phase") or "Pending")


def is_going(pod: Object) -> bool:
    """Whether it has been asked to go."""
    return bool(metadata_of(pod).get("deletionTimestamp"))


def is_active(pod: Object) -> bool:
    """Whether it has not ended and is not going."""
    return phase(pod) not in _ENDED and not is_going(pod)


def condition(content: Object, kind: str) -> Object | None:
    """A condition of an object by its type."""
    for entry in entries_of(content, "status", "conditions"):
        if entry.get("type") == kind:
            return entry
    return None


def is_ready(pod: Object) -> bool:
    """Whether it can be used."""
    result = condition(pod, "Ready")
    return result is not None and result.get("status") == "True"


def ready_since(pod: Object) -> float:
    """When it became ready, in seconds since 1970."""
    result = condition(pod, "Ready") or {}
    return read_time(result.get("lastTransitionTime"))


def is_available(pod: Object, least: int, now: float) -> bool:
    """Whether it has been ready for so many seconds."""
    return is_ready(pod) and (not least or ready_since(pod) + least <= now)


def available_at(pod: Object, least: int) -> float:
    """When a ready pod has been so for so many seconds."""
    return ready_since(pod) + least


def from_template(owner: Object, template: Object) -> Object:
    """A new pod of a workload, without a name."""
    metadata = metadata_of(owner)
    about = part_of(template, "metadata")
    its: Object = {"generateName": f"{metadata['name']}-", "namespace": metadata["namespace"]}
    for name in ("labels", "annotations", "finalizers"):
        if about.get(name):
            its[name] = copied({"it": about[name]})["it"]
    its["ownerReferences"] = [controller_reference(owner)]
    return {"metadata": its, "spec": copied(part_of(template, "spec"))}


def touched_owners(change: ObjectChange, objects: Objects, plural: str, kind: str) -> list[str]:
    """Workloads of a kind that a change of a pod is about: its owners, or who may adopt it."""
    result: dict[str, None] = {}
    for content in (change.before, change.after):
        if content is None:
            continue
        owner = controller_of(content)
        namespace = change.key.namespace
        if owner is not None:
            if owner.get("kind") == kind:
                result[named_key(namespace, owner["name"])] = None
        elif content is change.after and not is_going(content):
            labels = metadata_of(content).get("labels")
            if labels:
                for one in objects.listed(plural, namespace):
                    if selects(part_of(one, "spec").get("selector"), labels):
                        result[named_key(namespace, metadata_of(one)["name"])] = None
    return list(result)


def deletion_order(pod: Object, doubled: int) -> tuple[object, ...]:
    """Sorts pods so that those come first that are missed least."""
    status = part_of(pod, "status")
    cost = part_of(pod, "metadata", "annotations").get(_COST, "0")
    restarts = max(
        [entry.get("restartCount", 0) for entry in entries_of(status, "containerStatuses")] or [0]
    )
    ready = is_ready(pod)
    return (
        bool(part_of(pod, "spec").get("nodeName")),
        _PHASES.get(phase(pod), 1),
        ready,
        int(cost) if cost.lstrip("+-").isdigit() else 0,
        -doubled,
        -ready_since(pod) if ready else 0.0,
        -restarts,
        -read_time(metadata_of(pod).get("creationTimestamp")),
        metadata_of(pod)["name"],
    )


def disrupt(  # noqa: PLR0913  # the parts of a condition
    client: Client, pod: Object, reason: str, message: str, now: str, phase: str = ""
) -> None:
    """Give a pod the condition that says so."""
    status = copied(part_of(pod, "status"))
    conditions = [
        condition
        for condition in status.get("conditions") or []
        if condition["type"] != "DisruptionTarget"
    ]
    result = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }
    status["conditions"] = [*conditions, result]
    if phase:
        status["phase"] = phase
    try:
        client.update_status(pod, status)
    except Refused as why:
        if not why.is_absent:
            raise
