"""Types as definitions of OpenAPI documents."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.tables import builtin
from stockman_lab.kube.schema.type import MISSING, Field, Kind, Type
from stockman_lab.kube.schema.types import Types, UnknownKind

Object: TypeAlias = dict[str, Any]

ALWAYS_THERE = (
    "meta.v1.APIResourceList",
    "meta.v1.DeleteOptions",
    "meta.v1.Status",
    "meta.v1.WatchEvent",
)
_MACHINERY = "io.k8s.apimachinery.pkg"
_HOMES = {
    "meta.v1": f"{_MACHINERY}.apis.meta.v1",
    "pkg.runtime": f"{_MACHINERY}.runtime",
    "pkg.version": f"{_MACHINERY}.version",
    "apiextensions.v1": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
    "apiregistration.v1": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
}
_NAMED = {
    Kind.QUANTITY: f"{_MACHINERY}.api.resource.Quantity",
    Kind.INT_OR_STRING: f"{_MACHINERY}.util.intstr.IntOrString",
    Kind.TIME: f"{_MACHINERY}.apis.meta.v1.Time",
    Kind.MICRO_TIME: f"{_MACHINERY}.apis.meta.v1.MicroTime",
}
_SCALARS: dict[Kind, Object] = {
    Kind.STRING: {"type": "string"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.BYTES: {"type": "string", "format": "byte"},
}
_ZEROS: dict[Kind, Any] = {Kind.STRING: "", Kind.INTEGER: 0, Kind.NUMBER: 0, Kind.BOOLEAN: False}


def full_name(name: str) -> str:
    """`core.v1.Pod` is `io.k8s.api.core.v1.Pod`."""
    package, _, bare = name.rpartition(".")
    return f"{_HOMES.get(package, f'io.k8s.api.{package}')}.{bare}"


class KindName(NamedTuple):
    """A kind and where it belongs."""

    group: str
    version: str
    kind: str


class Definitions:
    """Writes definitions, and those that they refer to."""

    def __init__(self, prefix: str, *, with_defaults: bool) -> None:
        self._prefix = prefix
        self._with_defaults = with_defaults

    def collect_kind(self, types: Types, kind: KindName, into: Object) -> None:
        """Add the definition of a kind, marked as one."""
        try:
            made = types.type_of(*kind)
        except UnknownKind:
            return
        self.collect(made.name, into)
        if not made.name.startswith("meta.v1."):
            marked = {"group": kind.group, "kind": kind.kind, "version": kind.version}
            into[full_name(made.name)]["x-kubernetes-group-version-kind"] = [marked]

    def collect(self, name: str, into: Object) -> None:
        """Add a definition by its short name, and all that it needs."""
        if full_name(name) in into:
            return
        made = builtin(name)
        found: Object = {"type": "object"}
        into[full_name(name)] = found
        if required := [field.name for field in made.fields.values() if field.required]:
            found["required"] = required
        properties = {field: self._field(made.fields[field], into) for field in sorted(made.fields)}
        if properties:
            found["properties"] = properties
        if made.atomic:
            found["x-kubernetes-map-type"] = "atomic"

    def _field(self, field: Field, into: Object) -> Object:
        schema = self.schema(field.type, into)
        if self._with_defaults:
            if field.type.default is not MISSING:
                schema["default"] = field.type.default
            elif not field.pointer and field.type.kind is Kind.OBJECT:
                schema["default"] = {}
            elif not field.pointer and not field.omitted and field.type.kind in _ZEROS:
                schema["default"] = _ZEROS[field.type.kind]
        if field.type.atomic and field.type.kind is Kind.MAP:
            schema["x-kubernetes-map-type"] = "atomic"
        return schema

    def schema(self, made: Type, into: Object) -> Object:
        """The schema of a value of a type."""
        match made.kind:
            case Kind.OBJECT:
                self.collect(made.name, into)
                return self._patched(made, self.refer(full_name(made.name)))
            case Kind.ANY:
                into.setdefault(full_name(made.name), _anything(made.name))
                return self.refer(full_name(made.name))
            case Kind.LIST | Kind.MAP:
                return self._patched(made, self._several(made, into))
            case Kind.INTEGER:
                return {"type": "integer", "format": made.format}
            case Kind.NUMBER:
                return {"type": "number", "format": made.format}
            case Kind.STRING if made.enum:
                return {"type": "string", "enum": [*made.enum]}
            case kind if kind in _NAMED:
                into.setdefault(_NAMED[kind], self._scalar_definition(kind))
                return self.refer(_NAMED[kind])
            case kind:
                return dict(_SCALARS[kind])

    def refer(self, name: str) -> Object:
        """A schema that is a definition."""
        reference = {"$ref": self._prefix + name}
        return {"allOf": [reference]} if self._with_defaults else reference

    def _several(self, made: Type, into: Object) -> Object:
        element = {} if made.element is None else self.schema(made.element, into)
        if self._with_defaults and made.element is not None:
            if made.element.kind is Kind.OBJECT:
                element["default"] = {}
            elif made.element.kind in _ZEROS:
                element["default"] = _ZEROS[made.element.kind]
        if made.kind is Kind.MAP:
            return {"type": "object", "additionalProperties": element}
        several: Object = {"type": "array", "items": element}
        if made.keys:
            several["x-kubernetes-list-map-keys"] = [*made.keys]
        several["x-kubernetes-list-type"] = made.list_kind.value
        return several

    @staticmethod
    def _patched(made: Type, found: Object) -> Object:
        if made.merge_key:
            found["x-kubernetes-patch-merge-key"] = made.merge_key
        strategies = ["merge"] * made.merges + ["retainKeys"] * made.retains_keys
        if strategies:
            found["x-kubernetes-patch-strategy"] = ",".join(strategies)
        return found

    def _scalar_definition(self, kind: Kind) -> Object:
        if kind in (Kind.TIME, Kind.MICRO_TIME):
            return {"type": "string", "format": "date-time"}
        if kind is Kind.QUANTITY and not self._with_defaults:
            return {"type": "string"}
        if kind is Kind.QUANTITY:
            return {"oneOf": [{"type": "string"}, {"type": "number"}]}
        if not self._with_defaults:
            return {"type": "string", "format": "int-or-string"}
        return {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}


def _anything(name: str) -> Object:
    return {} if name.startswith("apiextensions.") else {"type": "object"}


def _published(schema: Object, whole: Object) -> Object:
    """A schema in which objects inside of objects have what every object has."""
    values: Object = {}
    for word, value in schema.items():
        if word == "properties":
            values[word] = {name: _published(one, whole) for name, one in value.items()}
        elif word in ("items", "additionalProperties") and isinstance(value, dict):
            values[word] = _published(value, whole)
        else:
            values[word] = value
    if schema.get("x-kubernetes-embedded-resource"):
        required = values.get("required", [])
        values["required"] = sorted({*required, "apiVersion", "kind"})
        values["properties"] = {**values.get("properties", {}), **whole}
    return values


def custom_definitions(types: Types, resource: Resource, definitions: Definitions) -> Object:
    """The definitions of a custom kind and of lists of it."""
    schemas: Object = {}
    made = types.type_of(resource.group, resource.version, resource.kind)
    words = [*reversed(resource.group.split(".")), resource.version]
    name, listed = (".".join([*words, kind]) for kind in (resource.kind, resource.list_kind))
    string = {"type": "string"}
    marks = [
        {"group": resource.group, "kind": kind, "version": resource.version}
        for kind in (resource.kind, resource.list_kind)
    ]
    metadata = definitions.schema(builtin("meta.v1.ObjectMeta"), schemas)
    whole = {"apiVersion": string, "kind": string, "metadata": metadata}
    schema: Object = _published(dict(made.rules), whole)
    schema["properties"] = {**schema.get("properties", {}), **whole}
    schema["x-kubernetes-group-version-kind"] = marks[:1]
    items = {"type": "array", "items": definitions.refer(name)}
    schemas[name] = schema
    schemas[listed] = {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": string,
            "items": items,
            "kind": string,
            "metadata": definitions.schema(builtin("meta.v1.ListMeta"), schemas),
        },
        "x-kubernetes-group-version-kind": marks[1:],
    }
    return schemas
