"""Namespaces that go: first all that lies in them."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import Change
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of

_ORDER = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
)


class Namespaces(Controller):
    """Empties namespaces and lets them go."""

    name = "namespace"
    component = "namespace-controller"
    watches = ()

    def keys(self, change: Change) -> Iterable[str]:
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
            changed["spec"]["finalizers"] = [one for one in held if one != "kubernetes"]
            self.client.update(changed, "finalize")
            return
        status = self._told(namespaces, left, failures)
        if status != part_of(namespaces, "status"):
            self.client.update_status(namespaces, status)

    def _left(self, namespace: str) -> list[tuple[str, Object]]:
        found = []
        for key, content in self.objects.all_in(namespace):
            group = str(content.get("apiVersion", "")).rpartition("/")[0]
            found.append((f"{key.resource}.{group}", content))
        return found

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

    def _told(self, found: Object, left: list[tuple[str, Object]], failures: list[str]) -> Object:
        counts: dict[str, int] = {}
        finalizers: dict[str, int] = {}
        for name, content in left:
            counts[name] = counts.get(name, 0) + 1
            for finalizer in metadata_of(content).get("finalizers") or ():
                finalizers[finalizer] = finalizers.get(finalizer, 0) + 1
        remaining = ", ".join(
            f"{name} has {count} resource instances" for name, count in sorted(counts.items())
        )
        holding = ", ".join(
            f"{name} in {count} resource instances" for name, count in sorted(finalizers.items())
        )
        facts = {
            "NamespaceDeletionDiscoveryFailure": (
                False,
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            "NamespaceDeletionGroupVersionParsingFailure": (
                False,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            "NamespaceDeletionContentFailure": (
                bool(failures),
                "ContentDeletionFailed" if failures else "ContentDeleted",
                f"Failed to delete all resource types, {len(failures)} remaining:"
                f" {', '.join(failures)}"
                if failures
                else "All content successfully deleted, may be waiting on finalization",
            ),
            "NamespaceContentRemaining": (
                bool(counts),
                "SomeResourcesRemain" if counts else "ContentRemoved",
                f"Some resources are remaining: {remaining}"
                if counts
                else "All content successfully removed",
            ),
            "NamespaceFinalizersRemaining": (
                bool(finalizers),
                "SomeFinalizersRemain" if finalizers else "ContentHasNoFinalizers",
                f"Some content in the namespace has finalizers remaining: {holding}"
                if finalizers
                else "All content-preserving finalizers finished",
            ),
        }
        old = {
            condition["type"]: condition
            for condition in part_of(found, "status").get("conditions") or []
        }
        conditions = []
        for kind in _ORDER:
            value, reason, message = facts[kind]
            word = "True" if value else "False"
            before = old.get(kind)
            same = before is not None and before["status"] == word
            since = before["lastTransitionTime"] if before is not None and same else self.today
            conditions.append(
                {
                    "type": kind,
                    "status": word,
                    "lastTransitionTime": since,
                    "reason": reason,
                    "message": message,
                }
            )
        return {"phase": "Terminating", "conditions": conditions}
