"""A node that takes no new pods for a while."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from stockman.kubernetes.nodes import Node
from stockman.kubernetes.objects import (
    NODES,
    DeleteOptions,
    EvictionBlocked,
    EvictionOptions,
    JsonPatch,
    ObjectRef,
    Selection,
)
from stockman.kubernetes.pods import Pod
from stockman.model.errors import Conflict, NotFound, Refused
from stockman.model.record import record
from stockman.steps.base import Action, Hold, Json
from stockman.steps.kubernetes import problems
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
        ref = ObjectRef(kind=NODES, name=self.node)
        await ports.to_kubernetes().patch(ref, JsonPatch(operations=(same, change)))


_PAUSE = 5.0
_SHORTEST = 1.0
_NAMED = 5
"""So many pods are named when a node does not become empty."""


def must_leave_node(pod: Pod) -> bool:
    """Whether a pod has to leave a node that is emptied."""
    of_daemon = any(one.kind == "DaemonSet" and one.is_controller for one in pod.owners)
    return not (pod.is_mirror or pod.has_ended or of_daemon)


@record
class DrainNode(Action):
    """Let every pod of a node go elsewhere; daemons and static pods stay."""

    kind: ClassVar[str] = "kube.drain"
    node: str
    uid: str
    """Of its Node object: another machine of the same name is left alone."""
    seconds: float = 600.0
    """How long budgets are waited for."""

    @property
    def summary(self) -> str:
        return f"drain node {self.node}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Node/{self.node}",)

    async def done(self, ports: Ports) -> bool:
        """An empty node that is not cordoned fills again, so it is not drained."""
        node = await self._node(ports)
        if node is None:
            return True
        return node.unschedulable and not await self._pods(ports)

    async def run(self, ports: Ports) -> None:
        pods = await self._pods(ports)
        bare = [_pod_list(one) for one in pods if not one.owners]
        if bare:
            raise Refused(problems.pods_without_owner(self.node, bare))
        end = ports.clock.now().timestamp() + self.seconds
        while pods:
            await ports.permit()
            await self._refuse_opened(ports)
            kept = {one.uid: await self._evict(ports, one) for one in pods}
            pods = await self._pods(ports)
            if not pods:
                return
            if ports.clock.now().timestamp() >= end:
                raise Refused(
                    problems.drain_timeout(self.node, self.seconds, _remaining_pods(pods, kept))
                )
            asked = [one.retry_after for one in kept.values() if one and one.retry_after]
            await ports.clock.sleep(max(_SHORTEST, min((_PAUSE, *asked))))
            pods = await self._pods(ports)

    async def _refuse_opened(self, ports: Ports) -> None:
        """Pods that leave a node that is not cordoned are back on it a moment later."""
        node = await self._node(ports)
        if node is not None and not node.unschedulable:
            raise Refused(problems.node_became_schedulable(self.node))

    async def _pods(self, ports: Ports) -> tuple[Pod, ...]:
        """Those that have to leave; none where the node is gone or another one."""
        if await self._node(ports) is None:
            return ()
        selection = Selection(fields=f"spec.nodeName={self.node}")
        there = await ports.to_kubernetes().pods(selection)
        return tuple(one for one in there if must_leave_node(one))

    async def _node(self, ports: Ports) -> Node | None:
        """None: it is gone, or another one has its name."""
        try:
            node = await ports.to_kubernetes().node(self.node)
        except NotFound:
            return None
        return node if node.uid == self.uid else None

    async def _evict(self, ports: Ports, pod: Pod) -> EvictionBlocked | None:
        """The budget that keeps a pod; None: it goes, or is gone."""
        if pod.is_leaving:
            return None
        try:
            answer = await ports.to_kubernetes().evict(
                pod.namespace, pod.name, EvictionOptions(uid=pod.uid)
            )
        except (NotFound, Conflict):  # another pod has the name now, or none
            return None
        return answer if isinstance(answer, EvictionBlocked) else None


def _pod_list(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"


def _remaining_pods(pods: Sequence[Pod], kept: dict[str, EvictionBlocked | None]) -> list[str]:
    told = []
    for pod in pods[:_NAMED]:
        budget = kept.get(pod.uid)
        if budget is not None:
            told.append(f"{_pod_list(pod)} is kept by budget {budget.budget or 'of unknown name'}")
        else:
            told.append(f"{_pod_list(pod)} does not end")
    more = len(pods) - _NAMED
    return [*told, f"and {more} more"] if more > 0 else told


@record
class DeleteNode(Action):
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
                ObjectRef(kind=NODES, name=self.node), DeleteOptions(uid=self.uid)
            )
        except (NotFound, Conflict):
            return
