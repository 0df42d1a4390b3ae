"""Cordon, drain and delete nodes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from stockman.kubernetes.nodes import Node, Taint
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
    """Keep new pods away from a node; it is uncordoned afterwards if it was not cordoned before."""

    kind: ClassVar[str] = "kube.cordon"
    node: str
    uid: str
    """UID of its Node object; another node with the same name is not changed."""

    @property
    def summary(self) -> str:
        return f"node {self.node} is cordoned"

    async def prior(self, ports: Ports) -> Json:
        node = await self._node(ports)
        return None if node is None else {"unschedulable": node.unschedulable}

    async def take(self, ports: Ports) -> None:
        await self._set(ports, unschedulable=True)

    async def give_back(self, ports: Ports, prior: Json) -> None:
        if isinstance(prior, dict) and prior.get("unschedulable") is False:
            await self._set(ports, unschedulable=False)

    async def _node(self, ports: Ports) -> Node | None:
        try:
            node = await ports.to_kubernetes().node(self.node)
        except NotFound:
            return None
        return node if node.uid == self.uid else None

    async def _set(self, ports: Ports, *, unschedulable: bool) -> None:
        node = await self._node(ports)
        if node is None or node.unschedulable is unschedulable:
            return
        change: dict[str, object] = {"op": "add", "path": _FIELD, "value": True}
        if not unschedulable:
            change = {"op": "remove", "path": _FIELD}
        same = {"op": "test", "path": "/metadata/uid", "value": self.uid}
        ref = ObjectRef(kind=NODES, name=self.node)
        await ports.to_kubernetes().patch(ref, JsonPatch(operations=(same, change)))


_PAUSE = 5.0
_SHORTEST = 1.0
_MAX_NAMED = 5
"""Maximum number of pods named in a problem."""


def must_leave_node(pod: Pod) -> bool:
    """Return whether a drain evicts a pod."""
    of_daemon_set = any(owner.kind == "DaemonSet" and owner.is_controller for owner in pod.owners)
    return not (pod.is_mirror or pod.has_ended or of_daemon_set)


_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_CLOCK_SKEW = timedelta(seconds=60)
"""Times of pods and taints are from several machines."""


def is_new_since_cordon(pod: Pod, node: Node) -> bool:
    """Return whether a pod was scheduled to a node although the node was cordoned before.

    An evicted pod that tolerates everything returns under another name, again and again.
    """
    if not any(toleration.covers(_CORDON) for toleration in pod.tolerations):
        return False
    added = next((taint.added for taint in node.taints if taint.key == _CORDON.key), "")
    if not added or not pod.created:
        return True
    return _parse_time(pod.created) > _parse_time(added) - _CLOCK_SKEW


def _parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


@record
class DrainNode(Action):
    """Evict the pods of a node, except those of DaemonSets and static pods."""

    kind: ClassVar[str] = "kube.drain"
    node: str
    uid: str
    """UID of its Node object; another node with the same name is not changed."""
    seconds: float = 600.0
    """Timeout for pods that disruption budgets protect."""

    @property
    def summary(self) -> str:
        return f"drain node {self.node}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Node/{self.node}",)

    async def done(self, ports: Ports) -> bool:
        """A node is drained only while it is cordoned: otherwise it gets new pods.

        Pods that tolerate the cordon come back under another name; they do not count.
        """
        node = await self._node(ports)
        if node is None:
            return True
        pods = await self._pods(ports)
        return node.unschedulable and all(is_new_since_cordon(pod, node) for pod in pods)

    async def run(self, ports: Ports) -> None:
        pods = await self._pods(ports)
        bare = [_pod_name(pod) for pod in pods if not pod.owners]
        if bare:
            raise Refused(problems.pods_without_owner(self.node, bare))
        end = ports.clock.now().timestamp() + self.seconds
        while pods:
            await ports.permit()
            await self._refuse_schedulable(ports)
            blocked = {pod.uid: await self._evict(ports, pod) for pod in pods}
            pods = await self._remaining(ports, pods)
            if not pods:
                break
            if ports.clock.now().timestamp() >= end:
                raise Refused(
                    problems.drain_timeout(self.node, self.seconds, _remaining_pods(pods, blocked))
                )
            waits = [block.retry_after for block in blocked.values() if block and block.retry_after]
            await ports.clock.sleep(max(_SHORTEST, min((_PAUSE, *waits))))
            pods = await self._remaining(ports, pods)
        await self._refuse_schedulable(ports)

    async def _refuse_schedulable(self, ports: Ports) -> None:
        """Refuse a node that is not cordoned: evicted pods would return to it."""
        node = await self._node(ports)
        if node is not None and not node.unschedulable:
            raise Refused(problems.node_became_schedulable(self.node))

    async def _pods(self, ports: Ports) -> tuple[Pod, ...]:
        """Return the pods to evict; none if the node was deleted or replaced."""
        if await self._node(ports) is None:
            return ()
        selection = Selection(fields=f"spec.nodeName={self.node}")
        pods = await ports.to_kubernetes().pods(selection)
        return tuple(pod for pod in pods if must_leave_node(pod))

    async def _remaining(self, ports: Ports, listed: Sequence[Pod]) -> tuple[Pod, ...]:
        """Return which of the listed pods are still there, by UID, as kubectl does."""
        uids = {pod.uid for pod in listed}
        return tuple(pod for pod in await self._pods(ports) if pod.uid in uids)

    async def _node(self, ports: Ports) -> Node | None:
        """Return the node with the planned UID. None: it was deleted or replaced."""
        try:
            node = await ports.to_kubernetes().node(self.node)
        except NotFound:
            return None
        return node if node.uid == self.uid else None

    async def _evict(self, ports: Ports, pod: Pod) -> EvictionBlocked | None:
        """Evict a pod; returns what blocks the eviction. None: it leaves, or is deleted."""
        if pod.is_leaving:
            return None
        try:
            answer = await ports.to_kubernetes().evict(
                pod.namespace, pod.name, EvictionOptions(uid=pod.uid)
            )
        except (NotFound, Conflict):  # deleted or replaced
            return None
        return answer if isinstance(answer, EvictionBlocked) else None


def _pod_name(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"


def _remaining_pods(pods: Sequence[Pod], blocked: dict[str, EvictionBlocked | None]) -> list[str]:
    reasons = []
    for pod in pods[:_MAX_NAMED]:
        block = blocked.get(pod.uid)
        if block is not None:
            budget = block.budget or "(unknown name)"
            reasons.append(f"disruption budget {budget} protects {_pod_name(pod)}")
        else:
            reasons.append(f"{_pod_name(pod)} does not terminate")
    more = len(pods) - _MAX_NAMED
    return [*reasons, f"and {more} more"] if more > 0 else reasons


@record
class DeleteNode(Action):
    """Delete the Node object of a machine that left the cluster."""

    kind: ClassVar[str] = "kube.node.remove"
    node: str
    uid: str

    @property
    def summary(self) -> str:
        return f"delete node {self.node} from Kubernetes"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/Node/{self.node}",)

    async def done(self, ports: Ports) -> bool:
        """Return whether the Node does not exist, or is another one with the same name."""
        try:
            node = await ports.to_kubernetes().node(self.node)
        except NotFound:
            return True
        return node.uid != self.uid  # replaced by a node with the same name

    async def run(self, ports: Ports) -> None:
        try:
            await ports.to_kubernetes().delete(
                ObjectRef(kind=NODES, name=self.node), DeleteOptions(uid=self.uid)
            )
        except (NotFound, Conflict):
            return
