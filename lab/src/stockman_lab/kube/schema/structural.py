"""Types made from the structural schemas of CustomResourceDefinitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

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
