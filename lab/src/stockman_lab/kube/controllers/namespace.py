"""Namespaces that go: first all that lies in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of

_MAP = "kube-root-ca.crt"
_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal"
    " endpoints such as the internal service IP or kubernetes.default.svc. No other usage is"
    " guaranteed across distributions of Kubernetes clusters."
)


class _OfNamespaces(Controller):
    """What is put into every namespace."""

    plural = ""
    object_name = ""

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """A namespace, or the one whose object went or was changed."""
        if change.key.resource == "namespaces":
            return (change.key.name,) if change.after is not None else ()
        return (change.key.namespace,) if change.key.name == self.object_name else ()

    def is_open(self, namespace: str) -> bool:
        """Whether something may be put into a namespace."""
        namespaces = self.objects.get("namespaces", namespace)
        return namespaces is not None and not metadata_of(namespaces).get("deletionTimestamp")

    def put(self, kind: str, content: Object) -> None:
        """Create something, unless it is there."""
        try:
            self.client.create("v1", kind, content)
        except Refused as why:
            if not why.is_taken and why.code != 403:
                raise


class ServiceAccounts(_OfNamespaces):
    """Gives every namespace its default account."""

    name = "serviceaccount"
    component = "service-account-controller"
    watches = ("namespaces", "serviceaccounts")
    object_name = "default"

    def sync(self, key: str) -> None:
        """Make the account where it is missing."""
        if (
            self.is_open(key)
            and self.objects.get("serviceaccounts", named_key(key, "default")) is None
        ):
            self.put("ServiceAccount", {"metadata": {"name": "default", "namespace": key}})


class RootAuthority(_OfNamespaces):
    """Publishes the certificate of the authority."""

    name = "root-ca-certificate-publisher"
    component = "root-ca-cert-publisher"
    watches = ("namespaces", "configmaps")
    object_name = _MAP

    def sync(self, key: str) -> None:
        """Make or mend the map where it is missing or was changed."""
        certificate = self.context.root_ca()
        if not self.is_open(key) or not certificate:
            return
        known = self.objects.get("configmaps", named_key(key, _MAP))
        annotations = {"kubernetes.io/description": _DESCRIPTION}
        data = {"ca.crt": certificate}
        if known is None:
            metadata = {"name": _MAP, "namespace": key, "annotations": annotations}
            self.put("ConfigMap", {"metadata": metadata, "data": data})
        elif known.get("data") != data:
            changed = copied(known)
            changed["data"] = data
            changed["metadata"]["annotations"] = annotations
            self.client.update(changed)


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
