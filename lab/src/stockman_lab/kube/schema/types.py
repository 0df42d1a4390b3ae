"""All kinds that a server knows: built-in ones, and those of CustomResourceDefinitions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from stockman.model.package_file import read_package_bytes
from stockman_lab.kube.schema.crd import Crd, groups_of
from stockman_lab.kube.schema.resource import Group, Resource, Subresource
from stockman_lab.kube.schema.tables import builtin, table
from stockman_lab.kube.schema.type import Type

_LEGACY = "core"
"""The package of the group without a name."""
_EVERYWHERE = "meta.v1"


class UnknownKind(LookupError):
    """A kind that the server does not have."""


class Types:
    """Resources, and the types of their objects. Never changes: a CRD makes new `Types`."""

    def __init__(self, crds: Iterable[Crd] = ()) -> None:
        self._crds = {crd.name: crd for crd in crds}
        self._resources = _builtin_resources()
        if self._crds:
            self._resources = self._resources | {
                (resource.group, resource.version, resource.plural): resource
                for crd in self._crds.values()
                for resource in crd.resources
            }
        self._custom = {
            kind: type_ for crd in self._crds.values() for kind, type_ in crd.types.items()
        }
        self._by_kind = {
            (resource.group, resource.version, resource.kind): resource
            for resource in reversed(self._resources.values())
        }
        self._groups = (*_builtin_groups(), *groups_of(self._crds.values(), _builtin_groups()))
        self._served = {
            (group.name, version) for group in self._groups for version in group.versions
        }

    @staticmethod
    def of_server() -> Types:
        """Those of a server without CustomResourceDefinitions."""
        return _of_server()

    def resource(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource that a path names; None: there is no such one."""
        return self._resources.get((group, version, plural))

    def resources(self) -> tuple[Resource, ...]:
        """All resources: built-in ones, then those of CustomResourceDefinitions."""
        return tuple(self._resources.values())

    def resource_of_kind(self, group: str, version: str, kind: str) -> Resource | None:
        """The resource whose objects are of a kind."""
        return self._by_kind.get((group, version, kind))

    def serves(self, group: str, version: str) -> bool:
        """Whether there is a group in a version."""
        return (group, version) in self._served

    def groups(self) -> tuple[Group, ...]:
        """Groups in the order of discovery, the one without a name first."""
        return self._groups

    def type_of(self, group: str, version: str, kind: str) -> Type:
        """The type of the objects of a kind, or of such lists; raises `UnknownKind`."""
        content = self._custom.get((group, version, kind))
        if content is not None:
            return content
        return _builtin_type(group, version, kind)


@cache
def _builtin_type(group: str, version: str, kind: str) -> Type:
    for home in (_package(group, version), _EVERYWHERE):
        if home in _packages() and kind in table(home):
            return builtin(f"{home}.{kind}")
    raise UnknownKind(f"{kind} of {group}/{version}")


@cache
def _packages() -> frozenset[str]:
    kinds = {
        _package(group.name, version) for group in _builtin_groups() for version in group.versions
    }
    return frozenset(kinds | {_EVERYWHERE})


def _package(group: str, version: str) -> str:
    return f"{group.partition('.')[0] or _LEGACY}.{version}"


@cache
def _discovery() -> list[dict[str, Any]]:
    text = read_package_bytes("stockman_lab.kube.schema", "tables/resources.json")
    content: list[dict[str, Any]] = json.loads(text)
    return content


@cache
def _builtin_groups() -> tuple[Group, ...]:
    return tuple(
        Group(item["group"], tuple(version["version"] for version in item["versions"]))
        for item in _discovery()
    )


@cache
def _builtin_resources() -> dict[tuple[str, str, str], Resource]:
    resources = {}
    for group in _discovery():
        for version in group["versions"]:
            for row in version["resources"]:
                resource = _resource(group["group"], version["version"], row)
                resources[resource.group, resource.version, resource.plural] = resource
    return resources


def _resource(group: str, version: str, row: Mapping[str, Any]) -> Resource:
    below = (
        Subresource(
            subresource["name"],
            subresource.get("group", group if "version" not in subresource else ""),
            subresource.get("version", version),
            subresource["kind"],
            tuple(subresource["verbs"]),
        )
        for subresource in row.get("subresources", ())
    )
    return Resource(
        group=group,
        version=version,
        plural=row["name"],
        singular=row["singularName"],
        kind=row["kind"],
        namespaced=row.get("namespaced", False),
        verbs=tuple(row["verbs"]),
        short_names=tuple(row.get("shortNames", ())),
        categories=tuple(row.get("categories", ())),
        storage_hash=row.get("storageVersionHash", ""),
        subresources={item.name: item for item in below},
        list_kind=f"{row['kind']}List",
    )


@cache
def _of_server() -> Types:
    return Types()
