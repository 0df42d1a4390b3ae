"""JSON patches, merge patches and strategic merge patches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.kube_api.bodies import APPS, CORE, deployment, made
from tests.real.kube_api.talking import JSON_PATCH, MERGE, STRATEGIC, Step, asked


def patching() -> Iterator[Step]:
    maps = f"{CORE}/configmaps"
    one = f"{maps}/a"
    yield Step("POST", maps, made("ConfigMap", "v1", "a", data={"a": "b"}))
    for operations in (
        [{"op": "remove", "path": "/data/zz"}],
        [{"op": "replace", "path": "/data/zz", "value": "x"}],
        [{"op": "add", "path": "/nope/zz", "value": "x"}],
        [{"op": "test", "path": "/data/a", "value": "x"}],
        [{"op": "test", "path": "/data/a", "value": "b"}, {"op": "remove", "path": "/data/a"}],
        [{"op": "move", "from": "/data/zz", "path": "/data/q"}],
        [{"op": "copy", "from": "/data/nope", "path": "/data/r"}],
        [{"op": "frob", "path": "/data/zz"}],
        [{"op": "add", "path": "/data/k"}],
        [{"op": "add", "path": "data/k", "value": "x"}],
        [{"op": "replace", "path": "/data", "value": 5}],
        [{"op": "replace", "path": "/metadata/name", "value": "zz"}],
        [{"op": "add", "path": "/metadata/labels", "value": {"a~1b": "c"}}],
        [{"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}}],
        [{"op": "replace", "path": "/metadata/labels/a~1b", "value": "d"}],
        {"op": "add"},
        "xx",
    ):
        yield Step("PATCH", one, operations, JSON_PATCH)
    body: Any
    for body in (
        "xx",
        [],
        {"data": 5},
        {"foo": 5},
        {"metadata": {"name": "zz"}},
        {"metadata": {"resourceVersion": "5"}},
        {"metadata": {"uid": "5"}},
        {"kind": "Foo"},
        {"data": {"n": "1", "q": None}},
        {"metadata": {"annotations": {"x": "y", "z": None}}},
    ):
        yield Step("PATCH", one, body, MERGE)
    yield Step("PATCH", asked(one, fieldValidation="Strict"), {"foo": 5}, MERGE)
    yield Step("PATCH", asked(one, force="true"), {"data": {"a": "b"}}, MERGE)
    for body in (
        "xx",
        [],
        {"foo": 5},
        {"data": {"$patch": "frob"}},
        {"data": {"$patch": "replace", "only": "this"}},
    ):
        yield Step("PATCH", one, body, STRATEGIC)
    yield Step("PATCH", one, {}, "application/foo")
    yield Step("PATCH", f"{maps}/nope", {}, MERGE)
    deployments = f"{APPS}/deployments"
    web = deployment("web")
    yield Step("POST", deployments, web)
    place = f"{deployments}/web"
    for containers in (
        [{"name": "one", "image": "wool:2.0"}],
        [{"name": "two", "image": "wool:2.0", "ports": [{"containerPort": 80}]}],
        [{"name": "two", "ports": [{"containerPort": 81, "protocol": "UDP"}]}],
        [{"name": "two", "$patch": "delete"}],
        [{"name": "three", "image": "x"}, {"$patch": "replace"}],
        [{"image": "x"}],
        [{"name": "one", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}],
        [
            {
                "name": "three",
                "env": [{"name": "C", "value": "3"}, {"name": "D", "value": "4"}],
                "$setElementOrder/env": [{"name": "D"}, {"name": "C"}],
            }
        ],
    ):
        body = {"spec": {"template": {"spec": {"containers": containers}}}}
        yield Step("PATCH", place, body, STRATEGIC)
    for spec in (
        {"replicas": 3},
        {"replicas": None},
        {"strategy": {"type": "Recreate"}},
        {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
        {"template": {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}},
        {
            "template": {
                "spec": {
                    "volumes": [
                        {
                            "name": "v",
                            "$retainKeys": ["name", "hostPath"],
                            "hostPath": {"path": "/x"},
                        }
                    ]
                }
            }
        },
        {"selector": {"matchLabels": {"app": "other"}}},
    ):
        yield Step("PATCH", place, {"spec": spec}, STRATEGIC)
    yield Step("PATCH", place, {"metadata": {"finalizers": ["a/b", "c/d"]}}, STRATEGIC)
    yield Step("PATCH", place, {"metadata": {"finalizers": ["e/f"]}}, STRATEGIC)
    yield Step(
        "PATCH", place, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["c/d"]}}, STRATEGIC
    )
    yield Step("PATCH", place, {"metadata": {"finalizers": None}}, STRATEGIC)
