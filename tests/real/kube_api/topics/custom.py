"""Custom resource definitions and their objects."""

from __future__ import annotations

from collections.abc import Iterator

from tests.real.kube_api.bodies import made
from tests.real.kube_api.talking import APPLY, JSON_PATCH, MERGE, STRATEGIC, Step, asked


def custom() -> Iterator[Step]:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    spec_type = {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 1, "default": 3},
            "color": {"type": "string", "enum": ["black", "white"]},
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "parts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"count": {"type": "integer"}, "name": {"type": "string"}},
                },
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    status_type = {
        "type": "object",
        "properties": {"fed": {"type": "boolean"}, "count": {"type": "integer"}},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": spec_type, "status": status_type},
            }
        },
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.count"},
        },
    }
    yield Step(
        "POST",
        definitions,
        made("CustomResourceDefinition", "apiextensions.k8s.io/v1", "bad.NS.example", spec={}),
    )
    names = {"kind": "Sheep", "plural": "sheep", "shortNames": ["sh"]}
    yield Step(
        "POST",
        definitions,
        made(
            "CustomResourceDefinition",
            "apiextensions.k8s.io/v1",
            "sheep.NS.example",
            spec={
                "group": "NS.example",
                "scope": "Namespaced",
                "names": names,
                "versions": [version],
            },
        ),
    )
    yield Step("WAIT", "/apis/NS.example/v1/namespaces/NS/sheep")
    place = "/apis/NS.example/v1/namespaces/NS/sheep"
    kind = ("Sheep", "NS.example/v1")
    yield Step(
        "POST",
        place,
        made(*kind, "dolly", spec={"color": "black", "unknown": 1, "free": {"a": {"b": 1}}}),
    )
    yield Step(
        "POST", asked(place, fieldValidation="Strict"), made(*kind, "strict", spec={"unknown": 1})
    )
    yield Step("POST", place, made(*kind, "bad", spec={"size": 0}))
    yield Step("POST", place, made(*kind, "bad", spec={"color": 5}))
    yield Step("POST", place, made(*kind, "bad", spec={"parts": [{"count": 1}]}))
    yield Step("POST", place, made("Goat", "NS.example/v1", "bad"))
    yield Step("GET", f"{place}/dolly")
    yield Step("GET", place)
    yield Step("PUT", f"{place}/dolly", made(*kind, "dolly", spec={"color": "white"}))
    yield Step("PATCH", f"{place}/dolly", {"spec": {"color": "white", "size": 5}}, MERGE)
    yield Step("PATCH", f"{place}/dolly", {"spec": {"size": 0}}, MERGE)
    yield Step("PATCH", f"{place}/dolly", {"status": {"fed": True}}, MERGE)
    yield Step(
        "PATCH",
        f"{place}/dolly/status",
        {"status": {"fed": True, "count": 2}, "spec": {"size": 9}},
        MERGE,
    )
    yield Step("PATCH", f"{place}/dolly", {}, STRATEGIC)
    yield Step(
        "PATCH",
        f"{place}/dolly",
        [{"op": "add", "path": "/spec/tags", "value": ["a", "b"]}],
        JSON_PATCH,
    )
    yield Step("GET", f"{place}/dolly/scale")
    yield Step("PATCH", f"{place}/dolly/scale", {"spec": {"replicas": 7}}, MERGE)
    one = asked(f"{place}/dolly", fieldManager="x")
    yield Step(
        "PATCH",
        one,
        made(
            *kind,
            "dolly",
            spec={"tags": ["c"], "parts": [{"name": "p", "count": 1}, {"name": "q"}]},
        ),
        APPLY,
    )
    yield Step(
        "PATCH",
        one,
        made(*kind, "dolly", spec={"tags": ["d"], "parts": [{"name": "q", "count": 2}]}),
        APPLY,
    )
    yield Step(
        "PATCH",
        asked(f"{place}/dolly", fieldManager="y"),
        made(*kind, "dolly", spec={"parts": [{"name": "q", "count": 3}]}),
        APPLY,
    )
    yield Step(
        "PATCH",
        asked(f"{place}/new", fieldManager="y"),
        made(*kind, "new", spec={"free": {"x": {"y": [1, 2]}}}),
        APPLY,
    )
    yield Step(
        "PATCH",
        asked(f"{place}/new", fieldManager="y"),
        made(*kind, "new", spec={"nope": 1}),
        APPLY,
    )
    yield Step("GET", asked(place, fieldSelector="spec.color=white"))
    yield Step("GET", asked(place, limit="1"))
    yield Step("DELETE", f"{place}/dolly")
    yield Step("DELETE", f"{place}/dolly")
    yield Step("GET", f"{definitions}/sheep.NS.example")
    yield Step("DELETE", f"{definitions}/sheep.NS.example")
