"""Access to the Talos API from pods: `serviceaccounts.talos.dev` and the secrets made of them."""

from __future__ import annotations

from stockman_lab.kube.objects import Object

GROUP, VERSION = "talos.dev", "v1alpha1"
_APID = 50000


def definition() -> Object:
    """The definition of the kind."""
    properties = {
        "spec": {
            "type": "object",
            "properties": {"roles": {"type": "array", "items": {"type": "string"}}},
        },
        "status": {"type": "object", "properties": {"failureReason": {"type": "string"}}},
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"serviceaccounts.{GROUP}"},
        "spec": {
            "conversion": {"strategy": "None"},
            "group": GROUP,
            "names": {
                "kind": "ServiceAccount",
                "listKind": "ServiceAccountList",
                "plural": "serviceaccounts",
                "singular": "serviceaccount",
                "shortNames": ["tsa"],
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def service() -> Object:
    """Where pods find the API of Talos."""
    ports = [{"name": "apid", "port": _APID, "protocol": "TCP", "targetPort": _APID}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "talos", "namespace": "default"},
        "spec": {"ports": ports},
    }
