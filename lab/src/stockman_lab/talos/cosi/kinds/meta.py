"""Definitions and namespaces: what kinds of resources there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.talos.go_yaml import dump
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import new_message
from stockman_lab.talos.cosi.registry import Contents, Spec, kind
from stockman_lab.talos.cosi.tables import (
    DEFINITIONS,
    NAMESPACES,
    Definition,
    definitions,
    namespaces,
)

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_OWNER = "meta"
_PACKAGE = "cosi.resource.meta"


def _written_definition(minor: str, spec: object) -> tuple[bytes, str]:
    if not isinstance(spec, dict):
        raise TypeError("a definition is a mapping")
    columns = [
        {"name": print_column["name"], "json_path": print_column["jsonPath"]}
        for print_column in spec["printColumns"]
    ]
    fields = {
        "resource_type": spec["type"],
        "display_type": spec["displayType"],
        "default_namespace": spec["defaultNamespace"],
        "aliases": spec["aliases"],
        "all_aliases": spec["allAliases"],
        "print_columns": columns,
        "sensitivity": int(bool(spec.get("sensitivity"))),
    }
    message = new_message(load_api_schema(minor), f"{_PACKAGE}.ResourceDefinitionSpec", fields)
    return message.SerializeToString(deterministic=True), dump(spec)


def _written_namespace(minor: str, spec: object) -> tuple[bytes, str]:
    if not isinstance(spec, dict):
        raise TypeError("a namespace is a mapping")
    message = new_message(load_api_schema(minor), f"{_PACKAGE}.NamespaceSpec", spec)
    return message.SerializeToString(deterministic=True), dump(spec)


@kind(DEFINITIONS, _OWNER, written=_written_definition)
def resource_definitions(machine: Machine) -> Contents:
    return {
        name: _definition(definition) for name, definition in definitions(machine.minor).items()
    }


def _definition(definition: Definition) -> Spec:
    spec: dict[str, object] = {
        "type": definition.type,
        "displayType": definition.display,
        "defaultNamespace": definition.namespace,
        "aliases": list(definition.aliases),
        "allAliases": list(definition.all_aliases),
    }
    if not definition.has_automatic_aliases:
        spec["skipAutomaticAliases"] = True
    spec["printColumns"] = [{"name": name, "jsonPath": path} for name, path in definition.columns]
    if definition.is_sensitive:
        spec["sensitivity"] = "sensitive"
    return spec


@kind(NAMESPACES, _OWNER, written=_written_namespace)
def all_namespaces(machine: Machine) -> Contents:
    return {name: {"description": text} for name, text in namespaces(machine.minor).items()}
