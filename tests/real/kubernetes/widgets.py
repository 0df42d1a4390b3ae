"""A custom kind whose schema uses what schemas can say, and objects that break it."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_TEXT = {"type": "string"}
_PAIR = {"type": "object", "properties": {"a": _TEXT, "b": _TEXT}}
_EITHER = [{"required": ["a"]}, {"required": ["b"]}]
SPEC: Object = {
    "type": "object",
    "required": ["size", "name"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "even": {"type": "integer", "multipleOf": 2},
        "open": {
            "type": "number",
            "minimum": 0,
            "exclusiveMinimum": True,
            "maximum": 9,
            "exclusiveMaximum": True,
        },
        "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
        "mode": {"type": "string", "enum": ["A", "B"], "default": "A"},
        "flag": {"type": "boolean"},
        "any": {"x-kubernetes-preserve-unknown-fields": True},
        "port": {"x-kubernetes-int-or-string": True},
        "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": _TEXT},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
        "map": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {
                "type": "object",
                "required": ["k"],
                "properties": {"k": _TEXT, "v": {"type": "integer", "default": 3}},
            },
        },
        "labels": {
            "type": "object",
            "additionalProperties": _TEXT,
            "minProperties": 1,
            "maxProperties": 2,
        },
        "when": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "mail": {"type": "string", "format": "email"},
        "address": {"type": "string", "format": "ipv4"},
        "network": {"type": "string", "format": "cidr"},
        "bytes": {"type": "string", "format": "byte"},
        "duration": {"type": "string", "format": "duration"},
        "link": {"type": "string", "format": "uri"},
        "uuid": {"type": "string", "format": "uuid"},
        "small": {"type": "integer", "format": "int32"},
        "nothing": {"type": "string", "nullable": True},
        "template": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "deep": {
            "type": "object",
            "properties": {
                "a": {
                    "type": "object",
                    "default": {},
                    "properties": {"b": {"type": "string", "default": "z"}},
                }
            },
        },
        "one": {**_PAIR, "oneOf": _EITHER},
        "some": {**_PAIR, "anyOf": _EITHER},
        "not": {"type": "string", "not": {"enum": ["x"]}},
        "both": {"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 5}]},
    },
}
_COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Mode", "type": "string", "jsonPath": ".spec.mode", "priority": 1},
    {"name": "List", "type": "string", "jsonPath": ".spec.list[*]"},
    {
        "name": "Ready",
        "type": "string",
        "jsonPath": '.status.conditions[?(@.type=="Ready")].status',
    },
    {"name": "When", "type": "date", "jsonPath": ".spec.when"},
    {"name": "Flag", "type": "boolean", "jsonPath": ".spec.flag"},
    {"name": "Open", "type": "number", "jsonPath": ".spec.open"},
    {"name": "Labels", "type": "string", "jsonPath": ".spec.labels"},
    {"name": "Label", "type": "string", "jsonPath": ".metadata.labels.example\\.org/size"},
    {"name": "Port", "type": "string", "jsonPath": ".spec.port"},
    {"name": "Odd", "type": "integer", "jsonPath": ".spec.name"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {
            "plural": "widgets",
            "kind": "Widget",
            "shortNames": ["wd"],
            "categories": ["all", "toys"],
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.even", "statusReplicasPath": ".status.a"},
                },
                "additionalPrinterColumns": _COLUMNS,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {
                            "spec": SPEC,
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
            },
            {
                "name": "v1beta1",
                "served": True,
                "storage": False,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            },
        ],
    },
}
PATH = "/apis/example.org/v1/namespaces/default/widgets"


def widget(called: str = "one", **spec: Any) -> Object:
    """A widget that is well, but for what is given."""
    return {
        "apiVersion": "example.org/v1",
        "kind": "Widget",
        "metadata": {"name": called},
        "spec": {"size": 1, "name": "abc", **spec},
    }


SPECS: list[Object] = [
    *({}, {"size": "x"}, {"size": 1.5}, {"size": 0}, {"size": 11}, {"even": 3}),
    *({"open": 0}, {"open": 9}, {"open": "s"}, {"open": 1.5}),
    *({"name": "a"}, {"name": "abcdefg"}, {"name": "A1"}, {"name": 5}),
    *({"mode": "C"}, {"mode": 3}, {"mode": None}, {"flag": "x"}, {"flag": None}),
    *({"port": True}, {"port": 1.5}, {"port": "x"}, {"any": [{"a": 1}]}),
    *({"list": []}, {"list": ["a", "b", "c"]}, {"list": "x"}, {"list": [1]}),
    *({"set": ["a", "b", "a"]}, {"map": [{"k": "a"}, {"k": "a"}]}, {"map": [{"v": 1}]}),
    *({"map": [{"k": "a", "v": "x"}]}, {"map": [{"k": "a", "v": None}]}),
    *({"labels": {}}, {"labels": {"a": "1", "b": "2", "c": "3"}}, {"labels": {"a": 1}}),
    *({"labels": []}, {"when": "x"}, {"when": "2026-01-01T00:00:00Z"}, {"day": "x"}),
    *({"mail": "x"}, {"address": "x"}, {"network": "x"}, {"bytes": "!"}, {"duration": "x"}),
    *({"duration": "1h30m"}, {"link": "x y"}, {"uuid": "x"}, {"small": 3_000_000_000}),
    *({"nothing": None}, {"template": {}}, {"template": {"apiVersion": "v1"}}),
    {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"x": 1}, "spec": {"y": 1}}},
    *({"deep": {"x": 1}}, {"one": {}}, {"one": {"a": "1", "b": "2"}}, {"one": {"a": "1"}}),
    *({"some": {}}, {"not": "x"}, {"not": "y"}, {"both": 1}, {"both": 4}),
    {"size": 0, "name": "A", "mode": "Q"},
]
STRANGE: Object = {
    **widget(
        zebra=1,
        map=[{"k": "a", "q": 1}],
        any={"a": {"b": 1}},
        deep={"a": {"c": 1}},
        template={"apiVersion": "v1", "kind": "Pod", "metadata": {"foo": 1}, "spec": {"x": 1}},
        ape=1,
    ),
    "metadata": {"name": "x", "zoo": 1},
    "status": {"x": 1},
    "bee": 1,
}
"""Unknown fields at all depths."""
