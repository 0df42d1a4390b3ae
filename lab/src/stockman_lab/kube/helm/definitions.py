"""Definitions of custom resources that charts and operators bring, from compact tables."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from stockman_lab.kube.objects import Object, copied

_FOLDER = "definitions"
_PROTECTED = (".k8s.io", ".kubernetes.io")
"""Groups of the Kubernetes project: definitions there say where they were approved."""
_APPROVED = "api-approved.kubernetes.io"
_SCHEMA: Object = {
    "type": "object",
    "x-kubernetes-preserve-unknown-fields": True,
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
"""Everything is taken as it is: the lab knows the names of fields, not their rules."""


@cache
def _table(name: str) -> list[Object]:
    text = files(__package__).joinpath(_FOLDER, f"{name}.json").read_text("utf-8")
    objects: list[Object] = json.loads(text)
    return objects


def definitions(name: str, *components: str) -> list[Object]:
    """Objects of kind CustomResourceDefinition, of all or of some components."""
    return [
        _definition(item)
        for item in _table(name)
        if not components or item.get("component") in components
    ]


def _definition(content: Object) -> Object:
    kind, plural, group = content["kind"], content["plural"], content["group"]
    names: Object = {
        "kind": kind,
        "listKind": content.get("listKind", f"{kind}List"),
        "plural": plural,
        "singular": content.get("singular", kind.lower()),
    }
    if "short" in content:
        names["shortNames"] = content["short"]
    if "categories" in content:
        names["categories"] = content["categories"]
    about: Object = {"name": f"{plural}.{group}"}
    if group.endswith(_PROTECTED):
        about["annotations"] = {_APPROVED: "https://github.com/kubernetes/enhancements"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": about,
        "spec": {
            "group": group,
            "names": names,
            "scope": "Cluster" if content.get("cluster") else "Namespaced",
            "versions": [
                _version(version, is_unseen=bool(content.get("unseen")))
                for version in content["versions"]
            ],
        },
    }


def _version(content: Object, *, is_unseen: bool) -> Object:
    schema = copied(_SCHEMA)
    if is_unseen:  # until its controller has looked at it
        schema["properties"]["status"]["default"] = {"observedGeneration": -1}
    version: Object = {
        "name": content["name"],
        "served": content.get("served", True),
        "storage": bool(content.get("storage")),
        "schema": {"openAPIV3Schema": schema},
    }
    if content.get("deprecated"):
        version["deprecated"] = True
    if "columns" in content:
        version["additionalPrinterColumns"] = [_column(*column) for column in content["columns"]]
    below: Object = {}
    if content.get("status"):
        below["status"] = {}
    if "scale" in content:
        below["scale"] = content["scale"]
    if below:
        version["subresources"] = below
    return version


def _column(name: str, kind: str, path: str, priority: int = 0) -> Object:
    column: Object = {"name": name, "type": kind, "jsonPath": path}
    if priority:
        column["priority"] = priority
    return column
