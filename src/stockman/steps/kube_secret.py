"""Secrets that a cluster needs before it can follow its repository."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import ClassVar

from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.ports.kubernetes.errors import FieldConflict
from stockman.ports.kubernetes.kinds import SECRETS, Ref
from stockman.ports.kubernetes.objects import Application, Object
from stockman.steps import kube_problems as problems
from stockman.steps.base import Action
from stockman.steps.kube_applying import found, ours
from stockman.steps.kube_reading import MANAGER, is_of_flux, managers_of, part
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef


@record
class SecretEntry:
    """One key of a Secret, and where its value is read."""

    key: str
    value: SecretRef


def digests_of(content: Object) -> dict[str, str]:
    """Digests of what a Secret holds, by key; never the values."""
    found = {}
    for key, value in part(content, "data").items():
        try:
            raw = base64.b64decode(str(value), validate=True)
        except ValueError:
            raw = str(value).encode()
        found[key] = _digest(raw)
    return found


def digest_of_text(value: str) -> str:
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
    def ref(self) -> Ref:
        return Ref(kind=SECRETS, name=self.name, namespace=self.namespace)

    @property
    def summary(self) -> str:
        return f"put Secret {self.name} into {self.namespace}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Secret/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        there = await found(ports.to_kubernetes(), self.ref)
        if there is None:
            return False
        if is_of_flux(there):
            return True
        have = digests_of(there)
        wanted = await self._values(ports)
        return all(have.get(key) == _digest(value) for key, value in wanted.items())

    async def run(self, ports: Ports) -> None:
        values = await self._values(ports)
        data = {key: base64.b64encode(value).decode() for key, value in values.items()}
        content = ours(SECRETS, self.name, self.namespace, data=data)
        if self.type:
            content["type"] = self.type
        kubernetes = ports.to_kubernetes()
        try:
            await kubernetes.apply(SECRETS, Application(content=content, manager=MANAGER))
        except FieldConflict as conflict:
            # The texts of conflicts name fields, never values.
            there = await found(kubernetes, self.ref)
            have = digests_of(there or {})
            keys = [key for key, value in values.items() if have.get(key) != _digest(value)]
            owners = conflict.managers or managers_of(there or {})
            raise Refused(
                problems.secret_differs(self.ref, owners, keys or sorted(values))
            ) from None

    async def _values(self, ports: Ports) -> Mapping[str, bytes]:
        secrets = ports.to_secrets()
        return {one.key: (await secrets.read(one.value)).reveal().encode() for one in self.entries}
