"""Namespaces, as the repository has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from stockman.model.record import record
from stockman.ports.kubernetes.kinds import NAMESPACES, Ref
from stockman.steps.base import Action
from stockman.steps.kube_applying import found, put
from stockman.steps.kube_reading import is_of_flux, part
from stockman.steps.ports import Ports


@record
class MakeNamespace(Action):
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
        there = await found(ports.to_kubernetes(), Ref(kind=NAMESPACES, name=self.name))
        if there is None:
            return False
        have = part(there, "metadata", "labels")
        return is_of_flux(there) or all(
            have.get(name) == value for name, value in self.labels.items()
        )

    async def run(self, ports: Ports) -> None:
        metadata: dict[str, object] = {"name": self.name}
        if self.labels:
            metadata["labels"] = dict(self.labels)
        if self.annotations:
            metadata["annotations"] = dict(self.annotations)
        content = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        await put(ports.to_kubernetes(), NAMESPACES, content)
