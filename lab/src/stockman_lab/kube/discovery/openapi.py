"""OpenAPI documents: what clients need to validate, explain and merge, without descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from stockman_lab.kube.discovery.definitions import (
    ALWAYS_THERE,
    Definitions,
    KindName,
    custom_definitions,
)
from stockman_lab.kube.discovery.groups import resources_of
from stockman_lab.kube.schema.resource import Resource, api_version
from stockman_lab.kube.schema.types import Types

Object: TypeAlias = dict[str, Any]

_WRITING = ("dryRun", "fieldManager", "fieldValidation")
_PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)


def group_version_paths(types: Types) -> list[tuple[str, str, str]]:
    """Group, version and path (`api/v1`, `apis/apps/v1`) of every document of version 3."""
    return [
        (group.name, version, _root(group.name, version).strip("/"))
        for group in types.groups()
        for version in group.versions
    ]


def document_v3(types: Types, group: str, version: str, minor: str) -> Object:
    """The document of one version of a group."""
    definitions = Definitions("#/components/schemas/", with_defaults=True)
    resources = resources_of(types, group, version)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": minor},
        "paths": dict(_paths(resources, "schema")),
        "components": {
            "schemas": _schemas(types, resources, definitions),
            "securitySchemes": {
                "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}
            },
        },
    }


def document_v2(types: Types, minor: str) -> Object:
    """The one document of version 2, with all groups."""
    definitions = Definitions("#/definitions/", with_defaults=False)
    paths: Object = {}
    schemas: Object = {}
    for group, version, _ in group_version_paths(types):
        resources = resources_of(types, group, version)
        paths.update(_paths(resources, ""))
        schemas.update(_schemas(types, resources, definitions))
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": minor},
        "paths": paths,
        "definitions": dict(sorted(schemas.items())),
    }


def protobuf_v2(minor: str) -> bytes:
    """The document of version 2 in protobuf: its head alone, without paths and definitions.

    kubectl asks for it where a kind is in no document of version 3, and then finds it nowhere.
    """
    info = _text(1, "Kubernetes") + _text(2, minor)
    return _text(1, "2.0") + _bytes(2, info)


def _text(number: int, text: str) -> bytes:
    return _bytes(number, text.encode())


def _bytes(number: int, content: bytes) -> bytes:
    """A field of a message; all that are needed are shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def _schemas(types: Types, resources: list[Resource], definitions: Definitions) -> Object:
    found: Object = {}
    for name in ALWAYS_THERE:
        definitions.collect(name, found)
    for resource in resources:
        if resource.is_custom:
            found |= custom_definitions(types, resource, definitions)
            definitions.collect("meta.v1.ObjectMeta", found)
            definitions.collect("meta.v1.ListMeta", found)
            continue
        for name in (resource.kind, resource.list_kind):
            definitions.collect_kind(types, KindName(resource.group, resource.version, name), found)
        for below in resource.subresources.values():
            kind = KindName(below.group, below.version, below.kind)
            definitions.collect_kind(types, kind, found)
    return dict(sorted(found.items()))


def _root(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _paths(resources: list[Resource], inside: str) -> Iterator[tuple[str, Object]]:
    for resource in resources:
        root = _root(resource.group, resource.version)
        whole = f"{root}/{resource.plural}"
        if resource.namespaced:
            below = f"{root}/namespaces/{{namespace}}/{resource.plural}"
            if "list" in resource.verbs:
                yield whole, {"get": _operation(resource, "list", "get", inside)}
            whole = below
        listed = {"list": "get", "create": "post", "deletecollection": "delete"}
        yield whole, _operations(resource, listed, inside)
        single = {"get": "get", "update": "put", "patch": "patch", "delete": "delete"}
        if operations := _operations(resource, single, inside):
            yield f"{whole}/{{name}}", operations


def _operations(resource: Resource, verbs: dict[str, str], inside: str) -> Object:
    return {
        method: _operation(resource, verb, method, inside)
        for verb, method in verbs.items()
        if verb in resource.verbs
    }


def _operation(resource: Resource, verb: str, method: str, inside: str) -> Object:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    operation: Object = {
        "operationId": f"{verb}{api_version(resource.group, resource.version)}{resource.kind}",
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": method if verb in ("update", "create") else verb,
        "x-kubernetes-group-version-kind": kind,
    }
    if method in ("post", "put", "patch"):
        names = (*_WRITING, "force") if method == "patch" else _WRITING
        operation["parameters"] = [_parameter(name, inside) for name in names]
    if method == "patch" and inside:
        operation["requestBody"] = {"content": {patch: {"schema": {}} for patch in _PATCHES}}
    return operation


def _parameter(name: str, inside: str) -> Object:
    facts: Object = {"type": "boolean" if name == "force" else "string", "uniqueItems": True}
    return {"name": name, "in": "query", **({inside: facts} if inside else facts)}
