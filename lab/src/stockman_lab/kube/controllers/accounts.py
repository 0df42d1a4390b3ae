"""What every namespace has: a service account, and the certificate of the cluster's authority."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.objects import Object, copied, metadata_of

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
