"""A node that takes no new pods for a while."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import NotFound
from stockman.model.record import record
from stockman.ports.kubernetes.kinds import NODES, Ref
from stockman.ports.kubernetes.nodes import Node
from stockman.ports.kubernetes.objects import JsonPatch
from stockman.steps.base import Hold, Json
from stockman.steps.ports import Ports

_FIELD = "/spec/unschedulable"


@record
class Cordon(Hold):
    """Keep new pods away from a node; uncordoned again unless it was cordoned before."""

    kind: ClassVar[str] = "kube.cordon"
    node: str
    uid: str
    """Of its Node object: another machine of the same name is left alone."""

    @property
    def summary(self) -> str:
        return f"node {self.node} is cordoned"

    async def prior(self, ports: Ports) -> Json:
        found = await self._node(ports)
        return None if found is None else {"unschedulable": found.unschedulable}

    async def take(self, ports: Ports) -> None:
        await self._set(ports, unschedulable=True)

    async def give_back(self, ports: Ports, prior: Json) -> None:
        if isinstance(prior, dict) and prior.get("unschedulable") is False:
            await self._set(ports, unschedulable=False)

    async def _node(self, ports: Ports) -> Node | None:
        try:
            found = await ports.to_kubernetes().node(self.node)
        except NotFound:
            return None
        return found if found.uid == self.uid else None

    async def _set(self, ports: Ports, *, unschedulable: bool) -> None:
        found = await self._node(ports)
        if found is None or found.unschedulable is unschedulable:
            return
        change: dict[str, object] = {"op": "add", "path": _FIELD, "value": True}
        if not unschedulable:
            change = {"op": "remove", "path": _FIELD}
        same = {"op": "test", "path": "/metadata/uid", "value": self.uid}
        ref = Ref(kind=NODES, name=self.node)
        await ports.to_kubernetes().patch(ref, JsonPatch(operations=(same, change)))
