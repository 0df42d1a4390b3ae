"""Disruption budgets: how many pods may go now."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.client import read_time
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, controller_of, named_key
from stockman_lab.kube.controllers.pods import resolved
from stockman_lab.kube.objects import Object, metadata_of, part_of

_FORGOTTEN = 120.0
"""Seconds after which a pod that was evicted but does not go counts again."""
_SCALED = {
    "ReplicaSet": "replicasets",
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "ReplicationController": "replicationcontrollers",
}
_PLURALS = {"DaemonSet": "daemonsets.apps", "Job": "jobs.batch"}


class _Uncountable(Exception):
    """Nobody knows how many pods there should be."""


class Disruptions(Controller):
    """Keeps the status of budgets."""

    name = "disruption"
    component = "controllermanager"
    watches = ("poddisruptionbudgets", "pods", "deployments", "replicasets", "statefulsets")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Budgets that mean a pod; of workloads that were scaled, all of the namespace."""
        if change.key.resource == "poddisruptionbudgets":
            return (change.name,)
        if change.key.resource == "pods":
            return self._of_pod(change)
        before, after = change.before or {}, change.after or {}
        if part_of(before, "spec").get("replicas") == part_of(after, "spec").get("replicas"):
            return ()
        return self._budget_keys(change.key.namespace, None)

    def _of_pod(self, change: ObjectChange) -> Iterable[str]:
        result: dict[str, None] = {}
        for pod in (change.before, change.after):
            if pod is not None:
                labels = metadata_of(pod).get("labels")
                result.update(dict.fromkeys(self._budget_keys(change.key.namespace, labels)))
        return result

    def _budget_keys(self, namespace: str, labels: object) -> list[str]:
        return [
            named_key(namespace, metadata_of(budget)["name"])
            for budget in self.objects.listed("poddisruptionbudgets", namespace)
            if labels is None or selects(part_of(budget, "spec").get("selector"), labels)
        ]

    def sync(self, key: str) -> None:
        """Count pods."""
        poddisruptionbudgets = self.objects.get("poddisruptionbudgets", key)
        if poddisruptionbudgets is None:
            return
        metadata, spec = metadata_of(poddisruptionbudgets), part_of(poddisruptionbudgets, "spec")
        pods = [
            one
            for one in self.objects.listed("pods", metadata["namespace"])
            if selects(spec.get("selector"), metadata_of(one).get("labels"))
        ]
        if not pods:
            self.recorder.normal(poddisruptionbudgets, "NoPods", "No matching pods found")
        try:
            expected, desired = self._pod_counts(spec, pods)
        except _Uncountable as why:
            self._fail(poddisruptionbudgets, str(why))
            return
        disrupted = self._recent_evictions(key, poddisruptionbudgets, pods)
        healthy = sum(
            pod_facts.is_ready(pod)
            and not pod_facts.is_going(pod)
            and metadata_of(pod)["name"] not in disrupted
            for pod in pods
        )
        allowed = max(healthy - desired, 0) if expected > 0 else 0
        status: Object = {"observedGeneration": metadata["generation"]}
        if disrupted:
            status["disruptedPods"] = disrupted
        status |= {
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
        }
        reason = "SufficientPods" if allowed else "InsufficientPods"
        status["conditions"] = self._conditions(poddisruptionbudgets, allowed > 0, reason, "")
        if status != part_of(poddisruptionbudgets, "status"):
            self.client.update_status(poddisruptionbudgets, status)

    def _fail(self, content: Object, why: str) -> None:
        text = f"Failed to calculate the number of expected pods: {why}"
        self.recorder.warning(content, "CalculateExpectedPodCountFailed", text)
        status = {**part_of(content, "status"), "disruptionsAllowed": 0}
        status["observedGeneration"] = metadata_of(content)["generation"]
        for name in ("currentHealthy", "desiredHealthy", "expectedPods"):
            status.setdefault(name, 0)
        status["conditions"] = self._conditions(content, False, "SyncFailed", why)
        if status != part_of(content, "status"):
            self.client.update_status(content, status)

    def _conditions(
        self, content: Object, allowed: bool, reason: str, message: str
    ) -> list[Object]:
        old = part_of(content, "status").get("conditions") or []
        mine = [item for item in old if item["type"] == "DisruptionAllowed"]
        word = "True" if allowed else "False"
        since = self.today
        if mine and mine[0]["status"] == word:
            since = mine[0]["lastTransitionTime"]
        condition: Object = {
            "type": "DisruptionAllowed",
            "status": word,
            "observedGeneration": metadata_of(content)["generation"],
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }
        return [*(item for item in old if item["type"] != "DisruptionAllowed"), condition]

    def _recent_evictions(self, key: str, content: Object, pods: list[Object]) -> Object:
        """Pods that were evicted a moment ago and are still there."""
        kept: Object = {}
        alive = {metadata_of(pod)["name"]: pod for pod in pods if not pod_facts.is_going(pod)}
        for name, since in part_of(content, "status", "disruptedPods").items():
            end = read_time(since) + _FORGOTTEN
            if name in alive and end > self.now:
                kept[name] = since
                self.look_again(key, end, patient=True)
        return kept

    def _pod_counts(self, spec: Object, pods: list[Object]) -> tuple[int, int]:
        """How many pods there should be, and how many of them healthy."""
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(pods)
            return expected, max(expected - resolved(spec["maxUnavailable"], expected, up=True), 0)
        least = spec.get("minAvailable", 1)
        if isinstance(least, int):
            return len(pods), least
        expected = self._scale(pods)
        return expected, resolved(least, expected, up=True)

    def _scale(self, pods: list[Object]) -> int:
        sizes: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is None or owner["uid"] in sizes:
                continue
            uid, size = self._size(owner, metadata_of(pod)["namespace"])
            sizes[uid] = size
        return sum(sizes.values())

    def _size(self, owner: Object, namespace: str) -> tuple[str, int]:
        plural = _SCALED.get(owner["kind"])
        if plural is None:
            name = _PLURALS.get(owner["kind"], str(owner["kind"]).lower())
            raise _Uncountable(f"{name} does not implement the scale subresource")
        content = self.objects.get(plural, named_key(namespace, owner["name"]))
        if content is None:
            return owner["uid"], 0
        above = controller_of(content)
        if owner["kind"] == "ReplicaSet" and above is not None and above["kind"] == "Deployment":
            return self._size(above, namespace)
        return owner["uid"], int(part_of(content, "spec").get("replicas", 1))
