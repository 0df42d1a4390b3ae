"""Node objects of machines that are gone."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import Conflict, NotFound
from stockman.model.record import record
from stockman.ports.kubernetes.kinds import NODES, Ref
from stockman.ports.kubernetes.objects import Deletion
from stockman.steps.base import Action
from stockman.steps.ports import Ports


@record
class RemoveNode(Action):
    """Delete the Node object of a machine that left the cluster."""

    kind: ClassVar[str] = "kube.node.remove"
    node: str
    uid: str

    @property
    def summary(self) -> str:
        return f"remove node {self.node} from Kubernetes"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Node/{self.node}",)

    async def done(self, ports: Ports) -> bool:
        try:
            found = await ports.to_kubernetes().node(self.node)
        except NotFound:
            return True
        return found.uid != self.uid  # a new machine took the name: the old one is gone

    async def run(self, ports: Ports) -> None:
        try:
            await ports.to_kubernetes().delete(
                Ref(kind=NODES, name=self.node), Deletion(uid=self.uid)
            )
        except (NotFound, Conflict):
            return
