"""Objects of Kubernetes as plans and status see them."""

from __future__ import annotations

from stockman.planning.observed_kubernetes import Owner, SeenNode, SeenObject, SeenSecret
from stockman.ports.kubernetes.objects import Object
from stockman.steps.kube_reading import (
    HELM_OWNER,
    condition,
    entries,
    is_of_flux,
    is_ours,
    managers_of,
    moment,
    name_of,
    number,
    part,
    text,
    uid_of,
)
from stockman.steps.kube_secret import digests_of
from stockman.steps.kube_working import shown

_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_READY = {
    "Deployment": "Available",
    "CustomResourceDefinition": "Established",
    "Job": "Complete",
}
"""The condition that tells that an object is as it should be; others have `Ready`."""
_COUNTED = {
    "DaemonSet": ("status", "desiredNumberScheduled", "numberReady"),
    "StatefulSet": ("spec", "replicas", "readyReplicas"),
}


def seen_node(content: Object) -> SeenNode:
    """A Node."""
    labels = part(content, "metadata", "labels")
    info = part(content, "status", "nodeInfo")
    ready = condition(content, "Ready")
    return SeenNode(
        name=name_of(content),
        uid=uid_of(content),
        is_ready=ready.holds,
        unschedulable=part(content, "spec").get("unschedulable") is True,
        is_controller=_CONTROL_PLANE in labels,
        kubelet=text(info, "kubeletVersion"),
        system=text(info, "osImage"),
        provider_id=text(content, "spec", "providerID"),
        region=str(labels.get("topology.kubernetes.io/region", "")),
        zone=str(labels.get("topology.kubernetes.io/zone", "")),
        addresses=tuple(
            text(one, "address")
            for one in entries(content, "status", "addresses")
            if one.get("type") == "InternalIP"
        ),
        taints=tuple(
            f"{text(one, 'key')}:{text(one, 'effect')}"
            for one in entries(content, "spec", "taints")
        ),
        boot_id=text(info, "bootID"),
        machine_id=text(info, "machineID"),
        why="" if ready.holds else ready.message or "its kubelet says nothing",
        created=moment(text(content, "metadata", "creationTimestamp")),
        pressures=tuple(one for one in _PRESSURES if condition(content, one).holds),
        managers=managers_of(content),
    )


def seen_object(content: Object) -> SeenObject:
    """An object of any kind."""
    kind = text(content, "kind")
    status = part(content, "status")
    return SeenObject(
        kind=kind,
        namespace=text(content, "metadata", "namespace"),
        name=name_of(content),
        uid=uid_of(content),
        owner=owner_of(content),
        release=text(content, "metadata", "annotations", HELM_OWNER),
        ready=_is_ready(kind, content),
        seen=shown(content) if status else "",
        suspended=part(content, "spec").get("suspend") is True,
        revision=text(status, "lastAppliedRevision") or text(status, "artifact", "revision"),
        managers=managers_of(content),
    )


def seen_secret(content: Object) -> SeenSecret:
    """A Secret, by digests."""
    return SeenSecret(
        namespace=text(content, "metadata", "namespace"),
        name=name_of(content),
        owner=owner_of(content),
        digests=digests_of(content),
    )


def owner_of(content: Object) -> Owner:
    """Who keeps an object as it is."""
    if is_of_flux(content):
        return Owner.FLUX
    if text(content, "metadata", "annotations", HELM_OWNER):
        return Owner.HELM
    return Owner.STOCKMAN if is_ours(content) else Owner.OTHERS


def _is_ready(kind: str, content: Object) -> bool | None:
    if kind in _COUNTED:
        place, wanted, there = _COUNTED[kind]
        return number(content, "status", there) >= number(content, place, wanted)
    told = condition(content, _READY.get(kind, "Ready"))
    return told.holds if told.status else None
