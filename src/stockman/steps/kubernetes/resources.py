"""Namespaces, as the repository has them."""

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
    """Have a namespace with its labels; whose it is already, and says more, stays as it is."""

    kind: ClassVar[str] = "kube.namespace"
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        return f"make namespace {self.name}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Namespace/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        there = await find_object(ports.to_kubernetes(), ObjectRef(kind=NAMESPACES, name=self.name))
        if there is None:
            return False
        have = mapping_at(there, "metadata", "labels")
        return is_managed_by_flux(there) or all(
            have.get(name) == value for name, value in self.labels.items()
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
    """Have a ConfigMap hold some texts."""

    kind: ClassVar[str] = "kube.config-map"
    namespace: str
    name: str
    data: Mapping[str, str]

    @property
    def summary(self) -> str:
        return f"put ConfigMap {self.name} into {self.namespace}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/ConfigMap/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        ref = ObjectRef(kind=CONFIG_MAPS, name=self.name, namespace=self.namespace)
        there = await find_object(ports.to_kubernetes(), ref)
        if there is None:
            return False
        return is_managed_by_flux(there) or dict(mapping_at(there, "data")) == dict(self.data)

    async def run(self, ports: Ports) -> None:
        content = with_owner_labels(CONFIG_MAPS, self.name, self.namespace, data=dict(self.data))
        await apply_object(ports.to_kubernetes(), CONFIG_MAPS, content)


@record
class SecretEntry:
    """One key of a Secret, and where its value is read."""

    key: str
    value: SecretRef


def secret_digests(content: Object) -> dict[str, str]:
    """Digests of what a Secret holds, by key; never the values."""
    found = {}
    for key, value in mapping_at(content, "data").items():
        try:
            raw = base64.b64decode(str(value), validate=True)
        except ValueError:
            raw = str(value).encode()
        found[key] = _digest(raw)
    return found


def secret_text_digest(value: str) -> str:
    """The digest of a value, as `digests_of` tells it."""
    return _digest(value.encode())


def _digest(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


@record
class ApplySecret(Action):
    """Have a Secret hold what stands in encrypted files."""

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
        return f"put Secret {self.name} into {self.namespace}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Secret/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        there = await find_object(ports.to_kubernetes(), self.ref)
        if there is None:
            return False
        if is_managed_by_flux(there):
            return True
        have = secret_digests(there)
        wanted = await self._values(ports)
        return all(have.get(key) == _digest(value) for key, value in wanted.items())

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
            # The texts of conflicts name fields, never values.
            there = await find_object(kubernetes, self.ref)
            have = secret_digests(there or {})
            keys = [key for key, value in values.items() if have.get(key) != _digest(value)]
            owners = conflict.managers or field_managers(there or {})
            raise Refused(
                problems.secret_differs(self.ref, owners, keys or sorted(values))
            ) from None

    async def _values(self, ports: Ports) -> Mapping[str, bytes]:
        secrets = ports.to_secrets()
        return {one.key: (await secrets.read(one.value)).reveal().encode() for one in self.entries}
