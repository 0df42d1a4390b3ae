"""Objects that Go's decoder does not take, and bodies that are not JSON."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEPLOYMENT: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "a"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    },
}
_POD = ("spec", "template", "spec")
_CONTAINER = (*_POD, "containers", 0)
_PORTS: list[Any] = [True, 1.5, {}]
_WRONG: dict[tuple[str | int, ...], list[Any]] = {
    ("spec", "replicas"): ["x", 1.5, 3_000_000_000, True, [], {}],
    ("spec", "paused"): ["true", 1],
    ("spec", "selector"): ["x", [], 5],
    ("metadata", "labels"): [{"a": 1}, []],
    ("metadata", "creationTimestamp"): ["x", 5],
    (*_CONTAINER, "name"): [5, True],
    (*_CONTAINER, "args"): ["x", [1], {}],
    (*_CONTAINER, "env"): [{}, [3], [{"name": "x", "value": 3}]],
    (*_CONTAINER, "livenessProbe"): [
        {"httpGet": 5},
        *({"httpGet": {"port": port}} for port in _PORTS),
    ],
    (*_CONTAINER, "resources"): [
        *({"limits": value} for value in ("x", {"cpu": "abc"}, {"cpu": True}))
    ],
    (*_POD, "volumes"): [[{"name": "x", "emptyDir": one}] for one in (5, {"medium": 5})],
}
CHANGES: list[tuple[tuple[str | int, ...], Any]] = [
    *((path, value) for path, values in _WRONG.items() for value in values),
    ((*_CONTAINER, "imagePullPolicy"), 5),
    ((*_CONTAINER, "ports"), [{"containerPort": "80"}]),
    ((*_CONTAINER, "lifecycle"), {"preStop": {"httpGet": {"port": []}}}),
    ((*_CONTAINER, "envFrom"), [{"configMapRef": {"name": 3}}]),
    (("metadata", "finalizers"), "x"),
    (("metadata", "uid"), 5),
    (("metadata", "ownerReferences"), [{"uid": 5}]),
    (("metadata",), "x"),
    (("spec",), 3),
]


def broken_objects() -> Iterator[Object]:
    """Deployments with one thing wrong each."""
    for path, value in CHANGES:
        deepcopy = copy.deepcopy(DEPLOYMENT)
        values: Any = deepcopy
        for step in path[:-1]:
            values = values[step]
        values[path[-1]] = value
        yield deepcopy


BODIES = [
    *(b"{", b"", b"xx", b'{"a":}', b'{"a":1,}', b'{"a":1}x', b'{"a":"\n"}', b'{"a" "b"}'),
    *(b"{'a':1}", b'{"a":tru}', b'{"a":01}', b"[1 2]", rb'{"a":"\x"}', rb'{"a":"\u00g"}', b"-"),
    *(b'{"a":nul', b"[1,]", b'{"a":-}', b'{"a":1.}', b'"abc', b'{"a":1e}', b"1.x"),
    *('{"é":é}'.encode(), b'{"a":\x01}'),
]


def strange_body() -> bytes:
    """A deployment with unknown fields and with fields twice."""
    return b"""{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","lables":{}},
        "spec":{"replicas":1,"replicas":2,"x":{},"x":2,"selector":{"matchLabels":{"a":"b","a":"b"}},
        "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
        {"name":"c","image":"i","foo":1,"image":"j","ports":[{"containerPort":1,"bar":2}]}]}}},
        "zzz":1}"""
