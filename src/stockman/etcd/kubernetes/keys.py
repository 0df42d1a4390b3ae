"""Under which keys of etcd a kube-apiserver keeps objects."""

from __future__ import annotations

from typing import NamedTuple

PREFIX = "/registry/"

_RENAMED = {
    "nodes": "minions",
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "replicationcontrollers": "controllers",
    "ingresses": "ingress",
}
_NAMED_BACK = {stored: resource for resource, stored in _RENAMED.items()}
_WITH_GROUP = {
    "customresourcedefinitions": "apiextensions.k8s.io",
    "apiservices": "apiregistration.k8s.io",
}
_INTERNAL = frozenset({"ranges", "masterleases", "peerserverleases"})
_CLUSTER_WIDE = frozenset(
    {
        "certificatesigningrequests",
        "clusterrolebindings",
        "clusterroles",
        "clustertrustbundles",
        "csidrivers",
        "csinodes",
        "deviceclasses",
        "flowschemas",
        "ingressclasses",
        "ipaddresses",
        "minions",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "namespaces",
        "persistentvolumes",
        "priorityclasses",
        "prioritylevelconfigurations",
        "resourceslices",
        "runtimeclasses",
        "servicecidrs",
        "storageclasses",
        "storageversionmigrations",
        "storageversions",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
        "volumeattachments",
        "volumeattributesclasses",
    }
)


class ObjectKey(NamedTuple):
    """An object by what it is; empty where it has no namespace, or no group in its key."""

    resource: str
    """Lower-case plural, as in `kubectl get`: `nodes`, not `minions`."""
    name: str
    namespace: str = ""
    group: str = ""
    """Of custom resources alone: keys of built-in kinds leave it out."""

    @property
    def key(self) -> bytes:
        """The key in etcd."""
        group = self.group or _WITH_GROUP.get(self.resource, "")
        stored = self.resource if group else _RENAMED.get(self.resource, self.resource)
        segments = (group, stored, self.namespace, self.name)
        return (PREFIX + "/".join(segment for segment in segments if segment)).encode()


def read_object_key(key: bytes) -> ObjectKey | None:
    """What a key is about; None: no object, but something that servers keep for themselves."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return None
    if not text.startswith(PREFIX):
        return None
    first, *segments = text.removeprefix(PREFIX).split("/")
    if first in _INTERNAL or not segments or not all((first, *segments)):
        return None
    if "." in first:
        return _parse_grouped_key(first, segments)
    if first == "services" and len(segments) > 1:
        first, segments = f"services/{segments[0]}", segments[1:]
    resource = _NAMED_BACK.get(first, first)
    match segments:
        case [name] if first in _CLUSTER_WIDE:
            return ObjectKey(resource, name)
        case [namespace, name] if first not in _CLUSTER_WIDE:
            return ObjectKey(resource, name, namespace)
        case [name]:
            return ObjectKey(resource, name)
    return None


def _parse_grouped_key(group: str, segments: list[str]) -> ObjectKey | None:
    match segments:
        case [resource, name]:
            kept = "" if _WITH_GROUP.get(resource) == group else group
            return ObjectKey(resource, name, group=kept)
        case [resource, namespace, name]:
            return ObjectKey(resource, name, namespace, group)
    return None
