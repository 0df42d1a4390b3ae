"""Kinds that a CustomResourceDefinition makes."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from stockman_lab.kube.schema.resource import Group, Resource, Subresource, api_version
from stockman_lab.kube.schema.tables import builtin
from stockman_lab.kube.schema.type import ANYTHING, MISSING, Field, Json, Kind, ListKind, Type

Schema = Mapping[str, Json]

_KINDS = {
    "object": Kind.OBJECT,
    "array": Kind.LIST,
    "string": Kind.STRING,
    "integer": Kind.INTEGER,
    "number": Kind.NUMBER,
    "boolean": Kind.BOOLEAN,
}
_STRING = Type(Kind.STRING, go="string")


def whole_object(schema: Schema, is_open: bool = False) -> Type:
    """The type of the objects of a kind: its schema, and what every object has."""
    return _object(schema, is_whole=True, is_open=is_open)


def structural(schema: Schema) -> Type:
    """The type that a schema describes."""
    if schema.get("x-kubernetes-int-or-string"):
        return _made(Kind.INT_OR_STRING, schema)
    kind = _KINDS.get(str(schema.get("type", "")))
    if kind is Kind.OBJECT or (kind is None and "properties" in schema):
        return _object(schema, is_whole=bool(schema.get("x-kubernetes-embedded-resource")))
    if kind is None:
        return _made(Kind.ANY, schema, is_open=True)
    if kind is Kind.LIST:
        return _list(schema)
    return _made(kind, schema)


def _object(schema: Schema, *, is_whole: bool, is_open: bool = False) -> Type:
    is_open = is_open or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    more = schema.get("additionalProperties")
    if more and not schema.get("properties") and not is_whole:
        result = _made(Kind.MAP, schema)
        result.element = ANYTHING if more is True else structural(_schema(more))
        return result
    result = _made(Kind.OBJECT, schema, is_open=is_open)
    result.embedded = is_whole
    result._made = lambda: _fields(schema, is_whole=is_whole)
    return result


def _fields(schema: Schema, *, is_whole: bool) -> dict[str, Field]:
    required = cast("list[str]", schema.get("required") or [])
    fields = {}
    if is_whole:
        fields = {name: Field(name, _STRING, name in required) for name in ("apiVersion", "kind")}
        metadata = builtin("meta.v1.ObjectMeta")
        fields["metadata"] = Field("metadata", metadata, "metadata" in required)
    for name, below in _schema(schema.get("properties")).items():
        if name not in fields:
            fields[name] = Field(name, structural(_schema(below)), name in required)
    return fields


def _list(schema: Schema) -> Type:
    result = _made(Kind.LIST, schema)
    result.element = structural(_schema(schema.get("items")))
    result.list_kind = ListKind(str(schema.get("x-kubernetes-list-type", "atomic")))
    result.keys = tuple(cast("list[str]", schema.get("x-kubernetes-list-map-keys") or []))
    return result


def _made(kind: Kind, schema: Schema, *, is_open: bool = False) -> Type:
    return Type(
        kind,
        str(schema.get("format", "")),
        atomic=schema.get("x-kubernetes-map-type") == "atomic",
        enum=tuple(cast("list[Json]", schema.get("enum") or [])),
        default=schema.get("default", MISSING),
        nullable=bool(schema.get("nullable")),
        is_open=is_open,
        is_custom=True,
        rules=schema,
    )


def _schema(value: Json) -> Schema:
    return value if isinstance(value, dict) else {}


VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_VERBS_BELOW = ("get", "patch", "update")
_VERSION = re.compile(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?")


@dataclass(frozen=True, slots=True)
class Crd:
    """What one CustomResourceDefinition makes."""

    name: str
    group: str
    resources: tuple[Resource, ...]
    types: Mapping[tuple[str, str, str], Type]
    """By group, version and kind; the kinds of lists too."""


def read_crd(crd: Mapping[str, Json]) -> Crd:
    """The kinds of those versions of a definition that are served."""
    supplied = cast("Mapping[str, Any]", crd)
    spec = supplied["spec"]
    names = spec["names"]
    served = [version for version in spec["versions"] if version.get("served")]
    stored = next((version["name"] for version in spec["versions"] if version.get("storage")), "")
    types: dict[tuple[str, str, str], Type] = {}
    for item in served:
        result = whole_object(
            item.get("schema", {}).get("openAPIV3Schema", {}), _keeps_unknown(spec)
        )
        types[spec["group"], item["name"], names["kind"]] = result
        types[spec["group"], item["name"], list_kind(names)] = _list_of(result)
    return Crd(
        name=supplied["metadata"]["name"],
        group=spec["group"],
        resources=tuple(_resource(spec, item, stored) for item in served),
        types=types,
    )


def _keeps_unknown(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("preserveUnknownFields"))


def list_kind(names: Mapping[str, Any]) -> str:
    """The kind of lists of these names."""
    return str(names.get("listKind") or f"{names['kind']}List")


def _resource(spec: Mapping[str, Any], version: Mapping[str, Any], stored: str) -> Resource:
    names, group, name = spec["names"], spec["group"], version["name"]
    below = {}
    subresources = version.get("subresources") or {}
    if "status" in subresources:
        below["status"] = Subresource("status", group, name, names["kind"], _VERBS_BELOW)
    if "scale" in subresources:
        below["scale"] = Subresource("scale", "autoscaling", "v1", "Scale", _VERBS_BELOW)
    return Resource(
        group=group,
        version=name,
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        kind=names["kind"],
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        storage_hash=storage_hash(group, stored, names["kind"]),
        subresources=below,
        list_kind=list_kind(names),
        declared=version,
    )


def storage_hash(group: str, version: str, kind: str) -> str:
    """What discovery says of the version in which objects are stored."""
    digest = hashlib.sha256(f"{api_version(group, version)}/{kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _list_of(element: Type) -> Type:
    string = Type(Kind.STRING, go="string")
    items = Type(Kind.LIST, element=element, list_kind=ListKind.ATOMIC, is_custom=True)
    fields = {
        "apiVersion": Field("apiVersion", string),
        "kind": Field("kind", string),
        "metadata": Field("metadata", builtin("meta.v1.ListMeta")),
        "items": Field("items", items, required=True),
    }
    return Type(Kind.OBJECT, is_custom=True, _made=lambda: fields)


def groups_of(crds: Iterable[Crd], others: Iterable[Group]) -> tuple[Group, ...]:
    """The groups of definitions that none of the others is, by name."""
    taken = {group.name for group in others}
    result: dict[str, set[str]] = {}
    for crd in crds:
        if crd.group not in taken:
            result.setdefault(crd.group, set()).update(
                resource.version for resource in crd.resources
            )
    return tuple(
        Group(name, tuple(sorted(versions, key=version_order)))
        for name, versions in sorted(result.items())
        if versions
    )


def version_order(version: str) -> tuple[int, int, int, str]:
    """Stable versions before beta before alpha before others, newest first."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    major, stage, minor = match.groups()
    rank = {None: 0, "beta": 1, "alpha": 2}[stage]
    return (rank, -int(major), -int(minor or 0), version)
