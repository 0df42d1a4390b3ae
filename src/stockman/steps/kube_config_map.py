"""ConfigMaps that a chart reads and does not bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from stockman.model.record import record
from stockman.ports.kubernetes.kinds import CONFIG_MAPS, Ref
from stockman.steps.base import Action
from stockman.steps.kube_applying import found, ours, put
from stockman.steps.kube_reading import is_of_flux, part
from stockman.steps.ports import Ports


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
        ref = Ref(kind=CONFIG_MAPS, name=self.name, namespace=self.namespace)
        there = await found(ports.to_kubernetes(), ref)
        if there is None:
            return False
        return is_of_flux(there) or dict(part(there, "data")) == dict(self.data)

    async def run(self, ports: Ports) -> None:
        content = ours(CONFIG_MAPS, self.name, self.namespace, data=dict(self.data))
        await put(ports.to_kubernetes(), CONFIG_MAPS, content)
