"""Replica sets: so many pods of a template."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.api.object_selectors import selects
from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, controller_of
from stockman_lab.kube.controllers.ownership import claimed
from stockman_lab.kube.controllers.pods import without_zeros
from stockman_lab.kube.objects import Object, metadata_of, part_of

_BURST = 500


class ReplicaSets(Controller):
    """Makes and deletes pods until there are as many as wanted."""

    name = "replicaset"
    component = "replicaset-controller"
    watches = ("replicasets", "pods")

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Of a pod: its owner, or whoever may adopt it."""
        if change.key.resource == "pods":
            return pod_facts.touched_owners(change, self.objects, "replicasets", "ReplicaSet")
        return (change.name,)

    def sync(self, key: str) -> None:
        """Make and delete pods, and tell how many there are."""
        replicasets = self.objects.get("replicasets", key)
        if replicasets is None:
            return
        pods = claimed(replicasets, "pods", self.objects, self.client)
        active = [pod for pod in pods if pod_facts.is_active(pod)]
        going = [pod for pod in pods if pod_facts.is_going(pod)]
        failure = None
        if not metadata_of(replicasets).get("deletionTimestamp"):
            failure = self._manage(replicasets, active)
        self._tell(key, replicasets, active, len(going), failure)
        if failure is not None:
            raise failure

    def _manage(self, content: Object, active: list[Object]) -> Refused | None:
        replicas = content["spec"].get("replicas", 1)
        template = part_of(content, "spec", "template")
        for _ in range(min(replicas - len(active), _BURST)):
            try:
                result = self.client.create("v1", "Pod", pod_facts.from_template(content, template))
            except Refused as why:
                if "NamespaceTerminating" in why.message or "being terminated" in why.message:
                    return None
                self.recorder.warning(content, "FailedCreate", f"Error creating: {why.message}")
                return why
            name = metadata_of(result)["name"]
            self.recorder.normal(content, "SuccessfulCreate", f"Created pod: {name}")
        surplus = min(len(active) - replicas, _BURST)
        if surplus > 0:
            for pod in self._least_missed(content, active)[:surplus]:
                self.client.delete(pod)
                name = metadata_of(pod)["name"]
                self.recorder.normal(content, "SuccessfulDelete", f"Deleted pod: {name}")
        return None

    def _least_missed(self, content: Object, active: list[Object]) -> list[Object]:
        """Pods in the order in which they go: those on nodes with others of the same kind first."""
        owner = controller_of(content)
        related = active
        if owner is not None:
            related = [
                pod
                for key, one in self.objects.owned(owner["uid"])
                if key.resource == "replicasets"
                for other, pod in self.objects.owned(metadata_of(one)["uid"])
                if other.resource == "pods" and pod_facts.is_active(pod)
            ]
        nodes: dict[str, int] = {}
        for pod in related:
            node = part_of(pod, "spec").get("nodeName", "")
            nodes[node] = nodes.get(node, 0) + 1
        return sorted(
            active,
            key=lambda pod: pod_facts.deletion_order(
                pod, nodes.get(part_of(pod, "spec").get("nodeName", ""), 0)
            ),
        )

    def _tell(
        self, key: str, content: Object, active: list[Object], going: int, failure: Refused | None
    ) -> None:
        spec, metadata = content["spec"], metadata_of(content)
        least = spec.get("minReadySeconds", 0)
        labels = part_of(spec, "template", "metadata").get("labels") or {}
        ready = [item for item in active if pod_facts.is_ready(item)]
        available = [item for item in ready if pod_facts.is_available(item, least, self.now)]
        labelled = [
            item
            for item in active
            if selects({"matchLabels": labels}, metadata_of(item).get("labels"))
        ]
        old = part_of(content, "status")
        status: Object = {"replicas": len(active)} | without_zeros(
            {
                "fullyLabeledReplicas": len(labelled),
                "readyReplicas": len(ready),
                "availableReplicas": len(available),
            }
        )
        status["terminatingReplicas"] = going
        status["observedGeneration"] = metadata["generation"]
        conditions = self._conditions(old, failure)
        if conditions:
            status["conditions"] = conditions
        waiting = [pod_facts.available_at(item, least) for item in ready if item not in available]
        if waiting:
            self.look_again(key, min(waiting))
        if status != old:
            self.client.update_status(content, status)

    def _conditions(self, old: Object, failure: Refused | None) -> list[Object]:
        kept = [
            condition
            for condition in old.get("conditions") or []
            if condition["type"] != "ReplicaFailure"
        ]
        if failure is None:
            return kept
        conditions = [
            condition
            for condition in old.get("conditions") or []
            if condition["type"] == "ReplicaFailure"
        ]
        result: Object = {
            "type": "ReplicaFailure",
            "status": "True",
            "lastTransitionTime": self.today,
            "reason": "FailedCreate",
            "message": failure.message,
        }
        return [*kept, *(conditions or [result])]
