"""A small custom kind."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.schema.crd import read_crd
from stockman_lab.kube.schema.type import Type
from stockman_lab.kube.schema.types import Types


def definition(schema: dict[str, Any], **version: Any) -> dict[str, Any]:
    """A definition of widgets with one version."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    **version,
                }
            ],
        },
    }


def types_with(spec: dict[str, Any], **version: Any) -> Types:
    """All kinds and widgets, whose spec has a schema."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
    return Types([read_crd(definition(schema, **version))])


def widgets(**properties: Any) -> Type:
    """The type of widgets whose spec has these properties."""
    return types_with({"properties": properties}).type_of("example.org", "v1", "Widget")


def widget(**spec: Any) -> dict[str, Any]:
    """A widget."""
    return {
        "apiVersion": "example.org/v1",
        "kind": "Widget",
        "metadata": {"name": "one"},
        "spec": spec,
    }
