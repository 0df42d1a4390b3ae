"""Namespaces that go: first all that lies in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of


class Namespaces(Controller):
    """Empties namespaces and lets them go."""

    name = "namespace"
    component = "namespace-controller"
    watches = ()

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """A namespace itself, or the one from which something went."""
        if change.key.resource == "namespaces":
            return (change.key.name,) if metadata_of(change.newest).get("deletionTimestamp") else ()
        if change.after is not None or not change.key.namespace:
            return ()
        namespaces = self.objects.get("namespaces", change.key.namespace)
        is_going = namespaces is not None and metadata_of(namespaces).get("deletionTimestamp")
        return (change.key.namespace,) if is_going else ()

    def sync(self, key: str) -> None:
        """Delete what is left, tell what remains, and let the namespace go when it is empty."""
        namespaces = self.objects.get("namespaces", key)
        if namespaces is None or not metadata_of(namespaces).get("deletionTimestamp"):
            return
        held = part_of(namespaces, "spec").get("finalizers") or []
        if "kubernetes" not in held:
            return
        failures = self._empty(key)
        left = self._left(key)
        if not left and not failures:
            changed = copied(namespaces)
            changed["spec"]["finalizers"] = [item for item in held if item != "kubernetes"]
            self.client.update(changed, "finalize")
            return
        status = self._status(namespaces, left, failures)
        if status != part_of(namespaces, "status"):
            self.client.update_status(namespaces, status)

    def _left(self, namespace: str) -> list[tuple[str, Object]]:
        result = []
        for key, content in self.objects.all_in(namespace):
            group = str(content.get("apiVersion", "")).rpartition("/")[0]
            result.append((f"{key.resource}.{group}", content))
        return result

    def _empty(self, namespace: str) -> list[str]:
        """Delete everything, pods before all else; returns what went wrong."""
        every = self.objects.all_in(namespace)
        pods = [one for key, one in every if key.resource == "pods"]
        failures = []
        for pod in pods or [content for _, content in every]:
            metadata = metadata_of(pod)
            if metadata.get("deletionTimestamp"):
                continue
            try:
                self.client.delete(pod, "Background")
            except Refused as why:
                failures.append(why.message)
        return failures

    def _status(
        self, result: Object, left: list[tuple[str, Object]], failures: list[str]
    ) -> Object:
        remaining: Counter[str] = Counter(name for name, _ in left)
        holding = Counter(
            finalizer
            for _, content in left
            for finalizer in metadata_of(content).get("finalizers") or ()
        )
        words = {
            "NamespaceDeletionContentFailure": (
                "ContentDeletionFailed" if failures else "ContentDeleted",
                "; ".join(failures),
            ),
            "NamespaceContentRemaining": (
                "SomeResourcesRemain" if remaining else "ContentRemoved",
                f"Some resources are remaining: {_count_text(remaining)}" if remaining else "",
            ),
            "NamespaceFinalizersRemaining": (
                "SomeFinalizersRemain" if holding else "ContentHasNoFinalizers",
                f"Some content in the namespace has finalizers remaining: {_count_text(holding)}"
                if holding
                else "",
            ),
        }
        old = {entry["type"]: entry for entry in entries_of(result, "status", "conditions")}
        conditions = []
        for kind, (reason, message) in words.items():
            value = "True" if message else "False"
            before = old.get(kind, {})
            since = before["lastTransitionTime"] if before.get("status") == value else self.today
            conditions.append(
                {
                    "type": kind,
                    "status": value,
                    "lastTransitionTime": since,
                    "reason": reason,
                    "message": message,
                }
            )
        return {"phase": "Terminating", "conditions": conditions}


def _count_text(counts: Counter[str]) -> str:
    return ", ".join(
        f"{name} has {count} resource instances" for name, count in sorted(counts.items())
    )
