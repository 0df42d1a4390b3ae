"""Custom resource definitions that are refused, and objects that do not fit theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.kube_api.bodies import made
from tests.real.kube_api.talking import APPLY, JSON_PATCH, MERGE, STRATEGIC, Step, asked

_PLACE = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WOOL = "/apis/NS.example/v1/namespaces/NS/wool"
_ARRAY = "x-kubernetes-list-type"
_LISTED = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "string"}}}}


def _version(schema: Any, **more: Any) -> dict[str, Any]:
    told = {"openAPIV3Schema": schema}
    return {"name": "v1", "served": True, "storage": True, "schema": told, **more}


def _definition(name: str = "wool", schema: Any = None, **more: Any) -> dict[str, Any]:
    group = more.pop("group", "NS.example")
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"plural": name, "kind": name.capitalize()},
        "versions": [_version(schema or {"type": "object"})],
        **more,
    }
    kind = ("CustomResourceDefinition", "apiextensions.k8s.io/v1", f"{name}.{group}")
    return made(*kind, spec=spec)


def _below(**field: Any) -> dict[str, Any]:
    inner = {"type": "object", "properties": {"a": field}}
    return {"type": "object", "properties": {"spec": inner}}


_SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "array"},
    {"properties": {"spec": {"type": "object"}}},
    {"type": "object", "properties": {"spec": {}}},
    _below(properties={"b": {"type": "string"}}),
    _below(type="foo"),
    _below(type="array"),
    _below(type="string", pattern="("),
    _below(type="integer", default="x"),
    _below(**_LISTED, **{_ARRAY: "map"}),
    _below(**_LISTED, **{_ARRAY: "map", "x-kubernetes-list-map-keys": ["n"]}),
    _below(type="string", **{_ARRAY: "set"}),
    _below(**_LISTED, **{_ARRAY: "foo"}),
    _below(type="string", **{"$ref": "x"}),
    _below(type="string", uniqueItems=True),
    _below(type="object", **{"x-kubernetes-preserve-unknown-fields": False}),
    {
        "type": "object",
        "properties": {
            "metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}
        },
    },
)
_PLAIN = {"type": "object"}
_DEFINITIONS: tuple[dict[str, Any], ...] = (
    {"versions": [{"name": "v1", "served": True, "storage": True}]},
    {"versions": [{**_version(_PLAIN), "name": "V_1"}]},
    {"scope": "Foo"},
    {"group": "nodots"},
    {"group": "x.k8s.io"},
    {"names": {"plural": "other", "kind": "Wool"}},
    {"names": {"plural": "wool", "kind": "Wool", "listKind": "Wool"}},
    {"names": {"plural": "wool", "kind": "wool", "singular": "W", "shortNames": ["S"]}},
    {"preserveUnknownFields": True},
    {"conversion": {"strategy": "Webhook"}},
    {"conversion": {"strategy": "Foo"}},
    {"versions": [_version(_PLAIN, subresources={"scale": {}})]},
    {"versions": [_version(_PLAIN, additionalPrinterColumns=[{"name": "a", "type": "foo"}])]},
    {"versions": [_version(_PLAIN, deprecationWarning="x")]},
)
_FITTING = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["n"],
            "properties": {
                "n": {"type": "integer"},
                "t": {"type": "string", "pattern": "^a+$", "default": "aa"},
                "m": {"type": "object", "additionalProperties": {"type": "integer"}},
                "nul": {"type": "string", "nullable": True},
            },
        }
    },
}
_SPECS: tuple[Any, ...] = (
    *({"n": 1}, {"n": "x"}, {}, {"n": 1, "t": "b"}, {"n": 1, "zz": 5}, {"n": 1.5}, {"n": None}),
    *({"n": 10**30}, {"n": 1, "m": {"a": "b"}}, {"n": 1, "nul": None}, [], 5),
)
_METADATA: tuple[Any, ...] = (
    *(
        5,
        {"name": "t", "labels": 5},
        {"name": "u", "foo": 5},
        {"name": "w", "annotations": {"a": 5}},
    ),
    *({"name": "x", "generation": "y"}, {"name": "y", "finalizers": [5]}),
)


def broken_definitions() -> Iterator[Step]:
    for schema in _SCHEMAS:
        yield Step("POST", asked(_PLACE, dryRun="All"), _definition(schema=schema))
    for more in _DEFINITIONS:
        yield Step("POST", asked(_PLACE, dryRun="All"), _definition(**more))
    yield Step("POST", _PLACE, _definition(schema=_FITTING))
    yield Step("WAIT", _WOOL)
    kind = {"apiVersion": "NS.example/v1", "kind": "Wool"}
    for number, spec in enumerate(_SPECS):
        yield Step("POST", _WOOL, {**kind, "metadata": {"name": f"a{number}"}, "spec": spec})
    for metadata in _METADATA:
        yield Step("POST", _WOOL, {**kind, "metadata": metadata, "spec": {"n": 1}})
    for text in ("null", "{", "[]", '{"metadata":{"name":"v"}}', '{"kind":5}'):
        yield Step("POST", _WOOL, text)
    one = f"{_WOOL}/a0"
    for patch in ({"spec": 5}, {"kind": "X"}, {"apiVersion": "x"}, {"metadata": {"labels": 5}}):
        yield Step("PATCH", one, patch, MERGE)
    yield Step("PATCH", one, [{"op": "remove", "path": "/spec/n"}], JSON_PATCH)
    yield Step("PATCH", one, {}, STRATEGIC)
    applied = {**kind, "metadata": {"name": "a0"}, "spec": {"n": "x"}}
    yield Step("PATCH", asked(one, fieldManager="m"), applied, APPLY)
    yield Step("GET", f"{one}/status")
    yield Step("DELETE", f"{_PLACE}/wool.NS.example")
