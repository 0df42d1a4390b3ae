"""Nodes whose kubelet is silent or not ready: their condition, their taints, their pods."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller, ControllerContext
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of

GRACE = 50.0
"""Seconds of silence after which a node counts as gone."""
_PERIOD = 5.0
"""Seconds between two looks of the real controller."""
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_BY_CONDITION = (
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
)
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_OWN = frozenset({*(key for _, _, key in _BY_CONDITION), _UNSCHEDULABLE})
_TOLD = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_NAMED_TWICE = ("kubernetes.io/os", "kubernetes.io/arch")
_MOSTLY_GONE = 0.55
_LARGE = 50


class NodeLifecycle(Controller):
    """Marks nodes, and keeps taints in line with their conditions."""

    name = "nodelifecycle"
    component = "node-controller"
    watches = ("nodes",)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._counted: tuple[list[Object], int] = ([], 0)
        self._seen: tuple[bool, bool] | None = None

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """The node; all, when it is another part of them that is gone."""
        before, after = change.before or {}, change.after or {}
        if (
            _ready(before) == _ready(after)
            and change.before is not None
            and change.after is not None
        ):
            return (change.key.name,)
        seen, self._seen = self._seen, self._outage()
        if seen == self._seen:
            return (change.key.name,)
        every = [metadata_of(node)["name"] for node in self.objects.listed("nodes")]
        return dict.fromkeys([change.key.name, *every])

    def _outage(self) -> tuple[bool, bool]:
        """Whether all nodes are gone, and whether it is most of a few: that is the network."""
        every = self.objects.listed("nodes")
        if self._counted[0] is not every:
            self._counted = every, sum(_ready(content) != "True" for content in every)
        gone = self._counted[1]
        return gone == len(every), (
            gone > 2 and gone / len(every) >= _MOSTLY_GONE and len(every) <= _LARGE
        )

    def sync(self, key: str) -> None:
        """Look at one node."""
        nodes = self.objects.get("nodes", key)
        if nodes is None:
            self.context.notes.pop(f"{self.name} {key}", None)
            return
        uid = metadata_of(nodes)["uid"]
        if self.context.notes.get(f"{self.name} {key}") != uid:
            self.context.notes[f"{self.name} {key}"] = uid
            text = f"Node {key} event: Registered Node {key} in Controller"
            self.recorder.normal(_unversioned(nodes), "RegisteredNode", text)
        nodes = self._label(nodes)
        nodes = self._listen(key, nodes)
        nodes = self._taint(nodes)
        if _ready(nodes) != "True":
            self._pods_not_ready(key)

    def _label(self, content: Object) -> Object:
        """What architecture and system are called today is said under the older names too."""
        labels = part_of(content, "metadata", "labels")
        desired = {f"beta.{name}": labels[name] for name in _NAMED_TWICE if name in labels}
        if all(labels.get(name) == value for name, value in desired.items()):
            return content
        return self.client.patch(content, {"metadata": {"labels": desired}})

    def _listen(self, key: str, content: Object) -> Object:
        since = self.context.silent_since(key)
        if since is None or _ready(content) == "Unknown":
            return content
        end = since + GRACE
        if self.now < end:
            self.look_again(key, end + self.context.dice.between(0.0, _PERIOD))
            return content
        status = copied(part_of(content, "status"))
        known = {condition["type"]: condition for condition in status.get("conditions") or []}
        created = metadata_of(content)["creationTimestamp"]
        for kind in _TOLD:
            one = known.get(kind)
            if one is None:
                one = {"type": kind, "lastHeartbeatTime": created}
                one |= {
                    "reason": "NodeStatusNeverUpdated",
                    "message": "Kubelet never posted node status.",
                }
                status.setdefault("conditions", []).append(one)
            else:
                one |= {
                    "reason": "NodeStatusUnknown",
                    "message": "Kubelet stopped posting node status.",
                }
            one |= {"status": "Unknown", "lastTransitionTime": self.today}
        update_status = self.client.update_status(content, status)
        text = f"Node {key} status is now: NodeNotReady"
        self.recorder.normal(_unversioned(content), "NodeNotReady", text)
        return update_status

    # -- taints --------------------------------------------------------------------------------

    def _taint(self, content: Object) -> Object:
        desired = {
            key: "NoSchedule"
            for kind, value, key in _BY_CONDITION
            if (pod_facts.condition(content, kind) or {}).get("status") == value
        }
        if part_of(content, "spec").get("unschedulable"):
            desired[_UNSCHEDULABLE] = "NoSchedule"
        taints = entries_of(content, "spec", "taints")
        kept = [
            taint
            for taint in taints
            if taint["key"] not in _OWN
            or (taint["effect"] == "NoSchedule" and taint["key"] in desired)
        ]
        present = {item["key"] for item in kept if item["effect"] == "NoSchedule"}
        kept += [
            {"key": key, "effect": "NoSchedule", "timeAdded": self.today}
            for key in desired
            if key not in present
        ]
        kept += self._executing(desired, taints)
        if kept == taints:
            return content
        changed = copied(content)
        changed["spec"]["taints"] = kept
        if not kept:
            del changed["spec"]["taints"]
        return self.client.update(changed)

    def _executing(self, desired: dict[str, str], taints: list[Object]) -> list[Object]:
        """The taint that drives pods away; none where most nodes are gone: that is the network."""
        all_gone, mostly_gone = self._outage()
        if all_gone:
            return []
        for key in (NOT_READY, UNREACHABLE):
            if key in desired:
                known = [
                    taint
                    for taint in taints
                    if taint["key"] == key and taint["effect"] == "NoExecute"
                ]
                if known or mostly_gone:
                    return known
                return [{"key": key, "effect": "NoExecute", "timeAdded": self.today}]
        return []

    def _pods_not_ready(self, node: str) -> None:
        for pod in self.objects.pods_on(node):
            if not pod_facts.is_ready(pod):
                continue
            status = copied(part_of(pod, "status"))
            for condition in status["conditions"]:
                if condition["type"] == "Ready":
                    condition |= {"status": "False", "lastTransitionTime": self.today}
            try:
                self.client.update_status(pod, status)
            except Refused as why:
                if not why.is_absent:
                    raise
            self.recorder.warning(pod, "NodeNotReady", "Node is not ready")


def _ready(node: Object) -> str:
    return str((pod_facts.condition(node, "Ready") or {}).get("status", ""))


def _unversioned(node: Object) -> Object:
    """A node as these events name it: by its name and its id."""
    metadata = metadata_of(node)
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": metadata["name"], "uid": metadata["uid"]},
    }
