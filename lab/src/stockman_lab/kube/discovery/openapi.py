"""OpenAPI documents: which requests take which parameters; schemas are not told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from stockman_lab.kube.discovery.groups import resources_of
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.types import Types

Object: TypeAlias = dict[str, Any]

_WRITING = ("dryRun", "fieldManager", "fieldValidation")
_METHODS = {"create": "post", "update": "put", "patch": "patch", "delete": "delete"}


def group_version_paths(types: Types) -> list[tuple[str, str, str]]:
    """Group, version and path (`api/v1`, `apis/apps/v1`) of every document."""
    return [
        (group.name, version, _root(group.name, version).strip("/"))
        for group in types.groups()
        for version in group.versions
    ]


def document_v3(types: Types, group: str, version: str, minor: str) -> Object:
    """The document of one version of a group."""
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": minor},
        "paths": dict(_paths(resources_of(types, group, version))),
        "components": {"schemas": {}},
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


def _root(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _paths(resources: list[Resource]) -> Iterator[tuple[str, Object]]:
    for resource in resources:
        root = _root(resource.group, resource.version)
        space = "/namespaces/{namespace}" if resource.namespaced else ""
        path = f"{root}{space}/{resource.plural}"
        yield path, dict(_operations(resource, ("create",)))
        yield f"{path}/{{name}}", dict(_operations(resource, ("update", "patch", "delete")))


def _operations(resource: Resource, verbs: tuple[str, ...]) -> Iterator[tuple[str, Object]]:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    for verb in verbs:
        method = _METHODS[verb]
        names = () if verb == "delete" else _WRITING
        yield (
            method,
            {
                "responses": {"200": {"description": "OK"}},
                "x-kubernetes-action": method,
                "x-kubernetes-group-version-kind": kind,
                "parameters": [
                    {"name": name, "in": "query", "schema": {"type": "string"}} for name in names
                ],
            },
        )
