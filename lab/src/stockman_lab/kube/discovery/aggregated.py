"""Aggregated discovery: all groups with all their resources in one answer."""

from __future__ import annotations

from typing import Any, TypeAlias

from stockman_lab.kube.discovery.groups import resources_of
from stockman_lab.kube.schema.resource import Group, Resource, Subresource
from stockman_lab.kube.schema.types import Types

Object: TypeAlias = dict[str, Any]


def aggregated(types: Types, *, is_legacy: bool) -> Object:
    """What `/api` (legacy) or `/apis` says."""
    groups = [group for group in types.groups() if is_legacy is not bool(group.name)]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_group(types, group) for group in groups],
    }


def _group(types: Types, group: Group) -> Object:
    versions = []
    for version in group.versions:
        resources = [_resource(resource) for resource in resources_of(types, group.name, version)]
        versions.append({"version": version, "resources": resources, "freshness": "Current"})
    return {"metadata": {"name": group.name} if group.name else {}, "versions": versions}


def _resource(resource: Resource) -> Object:
    content: Object = {
        "resource": resource.plural,
        "responseKind": _kind(resource, resource.group, resource.version, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": [*resource.verbs],
    }
    if resource.short_names:
        content["shortNames"] = [*resource.short_names]
    if resource.categories:
        content["categories"] = [*resource.categories]
    if resource.subresources:
        content["subresources"] = [
            _below(resource, subresource) for subresource in resource.subresources.values()
        ]
    return content


def _below(resource: Resource, below: Subresource) -> Object:
    return {
        "subresource": below.name,
        "responseKind": _kind(resource, below.group, below.version, below.kind),
        "verbs": [*below.verbs],
    }


def _kind(resource: Resource, group: str, version: str, kind: str) -> Object:
    # Of built-in kinds group and version are said only where they are others.
    if not resource.is_custom and (group, version) == (resource.group, resource.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}
