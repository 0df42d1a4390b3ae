"""Pods that leave a node, as far as their disruption budgets let them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from stockman.model.errors import Conflict, NotFound, Refused
from stockman.model.record import record
from stockman.ports.kubernetes.eviction import Blocked, Eviction
from stockman.ports.kubernetes.nodes import Node
from stockman.ports.kubernetes.objects import Selection
from stockman.ports.kubernetes.pods import Pod
from stockman.steps import kube_problems as problems
from stockman.steps.base import Action
from stockman.steps.ports import Ports

_PAUSE = 5.0
_SHORTEST = 1.0
_NAMED = 5
"""So many pods are named when a node does not become empty."""


def leaves(pod: Pod) -> bool:
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
        bare = [_shown(one) for one in pods if not one.owners]
        if bare:
            raise Refused(problems.bare_pods(self.node, bare))
        end = ports.clock.now().timestamp() + self.seconds
        while pods:
            await ports.permit()
            await self._refuse_opened(ports)
            kept = {one.uid: await self._evict(ports, one) for one in pods}
            pods = await self._pods(ports)
            if not pods:
                return
            if ports.clock.now().timestamp() >= end:
                raise Refused(problems.drain_blocked(self.node, self.seconds, _left(pods, kept)))
            asked = [one.retry_after for one in kept.values() if one and one.retry_after]
            await ports.clock.sleep(max(_SHORTEST, min((_PAUSE, *asked))))
            pods = await self._pods(ports)

    async def _refuse_opened(self, ports: Ports) -> None:
        """Pods that leave a node that is not cordoned are back on it a moment later."""
        node = await self._node(ports)
        if node is not None and not node.unschedulable:
            raise Refused(problems.opened_again(self.node))

    async def _pods(self, ports: Ports) -> tuple[Pod, ...]:
        """Those that have to leave; none where the node is gone or another one."""
        if await self._node(ports) is None:
            return ()
        selection = Selection(fields=f"spec.nodeName={self.node}")
        there = await ports.to_kubernetes().pods(selection)
        return tuple(one for one in there if leaves(one))

    async def _node(self, ports: Ports) -> Node | None:
        """None: it is gone, or another one has its name."""
        try:
            node = await ports.to_kubernetes().node(self.node)
        except NotFound:
            return None
        return node if node.uid == self.uid else None

    async def _evict(self, ports: Ports, pod: Pod) -> Blocked | None:
        """The budget that keeps a pod; None: it goes, or is gone."""
        if pod.is_leaving:
            return None
        try:
            answer = await ports.to_kubernetes().evict(
                pod.namespace, pod.name, Eviction(uid=pod.uid)
            )
        except (NotFound, Conflict):  # another pod has the name now, or none
            return None
        return answer if isinstance(answer, Blocked) else None


def _shown(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"


def _left(pods: Sequence[Pod], kept: dict[str, Blocked | None]) -> list[str]:
    told = []
    for pod in pods[:_NAMED]:
        budget = kept.get(pod.uid)
        if budget is not None:
            told.append(f"{_shown(pod)} is kept by budget {budget.budget or 'of unknown name'}")
        else:
            told.append(f"{_shown(pod)} does not end")
    more = len(pods) - _NAMED
    return [*told, f"and {more} more"] if more > 0 else told
