"""Discovery as it always was: groups, their versions, and the resources of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from stockman_lab.kube.schema.resource import Group, Resource, api_version
from stockman_lab.kube.schema.types import Types

Object: TypeAlias = dict[str, Any]


def api_versions(address: str) -> Object:
    """What `/api` says; the address is the server's own, as `10.42.0.1:6443`."""
    reached = {"clientCIDR": "0.0.0.0/0", "serverAddress": address}
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [reached]}


def group_list(types: Types) -> Object:
    """What `/apis` says."""
    groups = [_group(group) for group in types.groups() if group.name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group_named(types: Types, name: str) -> Object | None:
    """What `/apis/GROUP` says; None: there is no such group."""
    for group in types.groups():
        if group.name == name and name:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group)}
    return None


def _group(group: Group) -> Object:
    versions = [
        {"groupVersion": api_version(group.name, version), "version": version}
        for version in group.versions
    ]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(types: Types, group: str, version: str) -> Object | None:
    """What `/api/v1` or `/apis/GROUP/VERSION` says; None: there is no such version."""
    if not any(one.name == group and version in one.versions for one in types.groups()):
        return None
    rows = [row for resource in resources_of(types, group, version) for row in _rows(resource)]
    start: Object = {"kind": "APIResourceList"}
    if group:
        start["apiVersion"] = "v1"
    return {**start, "groupVersion": api_version(group, version), "resources": rows}


def resources_of(types: Types, group: str, version: str) -> list[Resource]:
    """The resources of a version of a group, by name."""
    resources = (
        resource
        for resource in types.resources()
        if (resource.group, resource.version) == (group, version)
    )
    return sorted(resources, key=lambda one: one.plural)


def _rows(resource: Resource) -> Iterator[Object]:
    row: Object = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": [*resource.verbs],
    }
    if resource.short_names:
        row["shortNames"] = [*resource.short_names]
    if resource.categories:
        row["categories"] = [*resource.categories]
    if resource.storage_hash:
        row["storageVersionHash"] = resource.storage_hash
    yield row
    for subresource in resource.subresources.values():
        below: Object = {
            "name": f"{resource.plural}/{subresource.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
        }
        if (subresource.group, subresource.version) != (resource.group, resource.version):
            below |= {"group": subresource.group, "version": subresource.version}
        yield below | {"kind": subresource.kind, "verbs": [*subresource.verbs]}
