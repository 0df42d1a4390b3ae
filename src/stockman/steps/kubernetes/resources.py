"""Apply namespaces, ConfigMaps and Secrets of the repository."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from stockman.kubernetes.errors import FieldConflict
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    NAMESPACES,
    SECRETS,
    Object,
    ObjectRef,
    ServerSideApply,
)
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.objects import (
    MANAGER,
    apply_object,
    field_managers,
    find_object,
    is_managed_by_flux,
    mapping_at,
    with_owner_labels,
)
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef


@record
class ApplyNamespace(Action):
    """Create a namespace with its labels; other labels of an existing one are kept."""

    kind: ClassVar[str] = "kube.namespace"
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        return f"create namespace {self.name}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Namespace/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        ref = ObjectRef(kind=NAMESPACES, name=self.name)
        current = await find_object(ports.to_kubernetes(), ref)
        if current is None:
            return False
        labels = mapping_at(current, "metadata", "labels")
        return is_managed_by_flux(current) or all(
            labels.get(name) == value for name, value in self.labels.items()
        )

    async def run(self, ports: Ports) -> None:
        metadata: dict[str, object] = {"name": self.name}
        if self.labels:
            metadata["labels"] = dict(self.labels)
        if self.annotations:
            metadata["annotations"] = dict(self.annotations)
        content = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        await apply_object(ports.to_kubernetes(), NAMESPACES, content)


@record
class ApplyConfigMap(Action):
    """Create or update a ConfigMap."""

    kind: ClassVar[str] = "kube.config-map"
    namespace: str
    name: str
    data: Mapping[str, str]

    @property
    def summary(self) -> str:
        return f"apply ConfigMap {self.name} in {self.namespace}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/ConfigMap/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        ref = ObjectRef(kind=CONFIG_MAPS, name=self.name, namespace=self.namespace)
        current = await find_object(ports.to_kubernetes(), ref)
        if current is None:
            return False
        return is_managed_by_flux(current) or dict(mapping_at(current, "data")) == dict(self.data)

    async def run(self, ports: Ports) -> None:
        content = with_owner_labels(CONFIG_MAPS, self.name, self.namespace, data=dict(self.data))
        await apply_object(ports.to_kubernetes(), CONFIG_MAPS, content)


@record
class SecretEntry:
    """One key of a Secret, and the reference to its value."""

    key: str
    value: SecretRef


def secret_digests(content: Object) -> dict[str, str]:
    """Return digests of the values of a Secret, by key; never the values."""
    digests = {}
    for key, value in mapping_at(content, "data").items():
        try:
            raw = base64.b64decode(str(value), validate=True)
        except ValueError:
            raw = str(value).encode()
        digests[key] = _digest(raw)
    return digests


def secret_text_digest(value: str) -> str:
    """Return the digest of a value, as in `secret_digests`."""
    return _digest(value.encode())


def _digest(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


@record
class ApplySecret(Action):
    """Create or update a Secret with values from encrypted files."""

    kind: ClassVar[str] = "kube.secret"
    namespace: str
    name: str
    entries: tuple[SecretEntry, ...]
    type: str = ""
    """Empty: `Opaque`."""

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(kind=SECRETS, name=self.name, namespace=self.namespace)

    @property
    def summary(self) -> str:
        return f"apply Secret {self.name} in {self.namespace}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Secret/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        current = await find_object(ports.to_kubernetes(), self.ref)
        if current is None:
            return False
        if is_managed_by_flux(current):
            return True
        digests = secret_digests(current)
        values = await self._values(ports)
        return all(digests.get(key) == _digest(value) for key, value in values.items())

    async def run(self, ports: Ports) -> None:
        values = await self._values(ports)
        data = {key: base64.b64encode(value).decode() for key, value in values.items()}
        content = with_owner_labels(SECRETS, self.name, self.namespace, data=data)
        if self.type:
            content["type"] = self.type
        kubernetes = ports.to_kubernetes()
        try:
            await kubernetes.apply(SECRETS, ServerSideApply(content=content, manager=MANAGER))
        except FieldConflict as conflict:
            # Messages of conflicts contain field names, never values.
            current = await find_object(kubernetes, self.ref) or {}
            digests = secret_digests(current)
            keys = [key for key, value in values.items() if digests.get(key) != _digest(value)]
            owners = conflict.managers or field_managers(current)
            raise Refused(
                problems.secret_differs(self.ref, owners, keys or sorted(values))
            ) from None

    async def _values(self, ports: Ports) -> Mapping[str, bytes]:
        secrets = ports.to_secrets()
        return {
            entry.key: (await secrets.read(entry.value)).reveal().encode() for entry in self.entries
        }
