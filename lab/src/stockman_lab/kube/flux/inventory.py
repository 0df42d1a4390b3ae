"""Names of objects as inventories hold them."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.kube.objects import Object, metadata_of

_ROLES = "rbac.authorization.k8s.io"
_COLON = "__"
_FIRST = (
    *("CustomResourceDefinition", "Namespace", "ClusterRole", "ClusterClass", "RuntimeClass"),
    *("PriorityClass", "StorageClass", "VolumeSnapshotClass", "IngressClass", "GatewayClass"),
    *("ClusterRoleBinding", "ResourceQuota", "ServiceAccount", "Role", "RoleBinding"),
    *("ConfigMap", "Secret", "Service", "LimitRange", "Deployment", "StatefulSet", "CronJob"),
    "PodDisruptionBudget",
)
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_PLACES = {kind: key - len(_FIRST) for key, kind in enumerate(_FIRST)} | {
    kind: key + 1 for key, kind in enumerate(_LAST)
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of an inventory."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str

    @staticmethod
    def of(content: Object) -> Entry:
        """That of an object."""
        group, _, version = str(content.get("apiVersion") or "").rpartition("/")
        metadata = metadata_of(content)
        namespace, name = metadata.get("namespace") or "", metadata.get("name") or ""
        return Entry(group, version, str(content.get("kind") or ""), str(namespace), str(name))

    @staticmethod
    def read(content: Object) -> Entry:
        """One that was written."""
        namespace, rest = str(content.get("id", "")).split("_", 1)
        name, group, kind = rest.rsplit("_", 2)
        plain = name.replace(_COLON, ":")
        return Entry(group, str(content.get("v", "")), kind, namespace, plain)

    @property
    def written(self) -> Object:
        """As a status holds it."""
        is_role = self.group == _ROLES
        name = self.name.replace(":", _COLON) if is_role else self.name
        return {"id": f"{self.namespace}_{name}_{self.group}_{self.kind}", "v": self.version}

    @property
    def shown(self) -> str:
        """As texts name it."""
        key = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind}/{key}{self.name}"

    @property
    def content(self) -> Object:
        """The least that names the object."""
        metadata = {"name": self.name}
        if self.namespace:
            metadata["namespace"] = self.namespace
        version = f"{self.group}/{self.version}" if self.group else self.version
        return {"apiVersion": version, "kind": self.kind, "metadata": metadata}

    @property
    def is_same_as(self) -> tuple[str, str, str, str]:
        """What stays the same in every version."""
        return (self.group, self.kind, self.namespace, self.name)

    @property
    def order(self) -> tuple[int, str, str, str, str]:
        """What is applied first comes first."""
        return (_PLACES.get(self.kind, 0), self.group, self.kind, self.namespace, self.name)


def entries_in(status: Object) -> list[Entry]:
    """The inventory of a status."""
    inventory = status.get("inventory")
    entries = (inventory.get("entries") if isinstance(inventory, dict) else None) or []
    return [Entry.read(entry) for entry in entries]
