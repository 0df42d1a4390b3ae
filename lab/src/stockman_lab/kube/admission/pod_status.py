"""What a new pod begins with: its phase, and its class of service."""

from __future__ import annotations

from stockman_lab.kube.admission.draft import Draft
from stockman_lab.kube.objects import Object, entries_of, part_of

_COUNTED = ("cpu", "memory")


def prepare_pod(draft: Draft) -> None:
    """A pod waits to be placed."""
    spec = draft.content["spec"]
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    draft.content["status"] = {"phase": "Pending", "qosClass": class_of_service(spec)}


def class_of_service(spec: Object) -> str:
    """Guaranteed, Burstable or BestEffort."""
    whole = part_of(spec, "resources")
    if whole.get("requests") or whole.get("limits"):
        owners = [spec]
    else:
        owners = [*entries_of(spec, "containers"), *entries_of(spec, "initContainers")]
    asked = limited = False
    guaranteed = bool(owners)
    for owner in owners:
        requests = _amounts(part_of(owner, "resources", "requests"))
        limits = _amounts(part_of(owner, "resources", "limits"))
        asked |= bool(requests)
        limited |= bool(limits)
        guaranteed &= len(limits) == len(_COUNTED) and requests in ({}, limits)
    if not asked and not limited:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _amounts(resources: Object) -> Object:
    return {name: resources[name] for name in _COUNTED if resources.get(name) not in (None, "0", 0)}
