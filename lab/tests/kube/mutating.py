"""Requests that were right once: each is changed in a few places, by dice with a seed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from stockman_lab.core.dice import Dice

from lab.tests.kube.asking import APPLY, JSON_PATCH, MERGE, STRATEGIC

JSON = "application/json"
SPACE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
SHEEP = "/apis/example.org/v1/namespaces/default/sheep"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    body: bytes = b""
    kind: str = JSON
    accept: str = JSON


def _named(name: str, **content: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {"app": "wool"}}, **content}


_POD = {
    "containers": [
        {
            "name": "one",
            "image": "wool:1",
            "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"cpu": 1}},
            "ports": [{"containerPort": 80, "name": "web"}],
            "env": [{"name": "A", "value": "b"}],
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            "livenessProbe": {"httpGet": {"path": "/", "port": "web"}},
        }
    ],
    "initContainers": [{"name": "first", "image": "wool:1"}],
    "volumes": [{"name": "v", "emptyDir": {}}],
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
    "nodeSelector": {"a": "b"},
    "terminationGracePeriodSeconds": 5,
}
_TEMPLATE = {"metadata": {"labels": {"app": "wool"}}, "spec": _POD}
_SELECTOR = {"matchLabels": {"app": "wool"}}
_DEFINITION = {
    "metadata": {"name": "sheep.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"plural": "sheep", "singular": "sheep", "kind": "Sheep", "listKind": "SheepList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1, "default": 3},
                                    "tags": {
                                        "type": "array",
                                        "items": {"type": "string"},
                                        "x-kubernetes-list-type": "set",
                                    },
                                    "free": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                    },
                                },
                            },
                            "status": {"type": "object", "properties": {}},
                        },
                    }
                },
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.size",
                        "statusReplicasPath": ".status.size",
                    },
                },
            }
        ],
    },
}
_OBJECTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/api/v1/namespaces", _named("spare")),
    ("/api/v1/nodes", _named("n1", spec={"taints": [{"key": "a", "effect": "NoSchedule"}]})),
    (
        "/api/v1/persistentvolumes",
        _named(
            "pv",
            spec={
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/v"},
            },
        ),
    ),
    (DEFINITIONS, _DEFINITION),
    (
        f"{RBAC}/clusterroles",
        _named("r", rules=[{"verbs": ["get"], "resources": ["pods"], "apiGroups": [""]}]),
    ),
    (
        f"{RBAC}/clusterrolebindings",
        _named(
            "b",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
            subjects=[{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}],
        ),
    ),
    (f"{SPACE}/configmaps", _named("c", data={"a": "b"}, binaryData={"x": "eA=="})),
    (f"{SPACE}/secrets", _named("s", stringData={"a": "b"}, type="Opaque")),
    (f"{SPACE}/serviceaccounts", _named("sa")),
    (f"{SPACE}/pods", _named("p", spec=_POD)),
    (f"{SPACE}/services", _named("svc", spec={"ports": [{"port": 80}], "selector": {"a": "b"}})),
    (
        f"{SPACE}/persistentvolumeclaims",
        _named(
            "pvc",
            spec={
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        ),
    ),
    (f"{SPACE}/events", _named("e", involvedObject={"kind": "Pod"}, reason="R", message="m")),
    (f"{APPS}/deployments", _named("d", spec={"selector": _SELECTOR, "template": _TEMPLATE})),
    (f"{APPS}/daemonsets", _named("ds", spec={"selector": _SELECTOR, "template": _TEMPLATE})),
    (
        f"{APPS}/statefulsets",
        _named("ss", spec={"selector": _SELECTOR, "template": _TEMPLATE, "serviceName": "s"}),
    ),
    (
        "/apis/batch/v1/namespaces/default/jobs",
        _named("j", spec={"template": {"spec": {**_POD, "restartPolicy": "Never"}}}),
    ),
    (
        "/apis/batch/v1/namespaces/default/cronjobs",
        _named(
            "cj",
            spec={
                "schedule": "* * * * *",
                "jobTemplate": {"spec": {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}},
            },
        ),
    ),
    (
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
        _named("pdb", spec={"minAvailable": "50%", "selector": _SELECTOR}),
    ),
    (
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        _named("l", spec={"holderIdentity": "a", "renewTime": "2026-01-01T00:00:00.000000Z"}),
    ),
    (
        "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
        _named("i", spec={"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}),
    ),
    (
        "/apis/storage.k8s.io/v1/storageclasses",
        _named("sc", provisioner="p.example", parameters={"a": "b"}),
    ),
    (
        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        _named("csr", spec={"request": "eA==", "signerName": "a.b/c", "usages": ["client auth"]}),
    ),
    (
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        _named("es", addressType="IPv4", endpoints=[{"addresses": ["10.0.0.1"]}], ports=[]),
    ),
    (
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        _named("v", webhooks=[]),
    ),
    (SHEEP, {"apiVersion": "example.org/v1", "kind": "Sheep", **_named("w", spec={"size": 2})}),
)
_PATCHES: tuple[tuple[str, Any], ...] = (
    (MERGE, {"metadata": {"annotations": {"a": "b", "c": None}}, "spec": {"replicas": 2}}),
    (
        JSON_PATCH,
        [
            {"op": "add", "path": "/metadata/labels/x", "value": "y"},
            {"op": "test", "path": "/metadata/name", "value": "d"},
            {"op": "copy", "from": "/metadata/name", "path": "/metadata/labels/z"},
        ],
    ),
    (
        STRATEGIC,
        {
            "metadata": {"finalizers": ["a/b"], "$setElementOrder/finalizers": ["a/b"]},
            "spec": {
                "template": {
                    "spec": {
                        "$setElementOrder/containers": [{"name": "one"}],
                        "containers": [{"name": "one", "env": [{"name": "A", "$patch": "delete"}]}],
                        "volumes": [{"$patch": "replace"}],
                        "tolerations": None,
                    }
                }
            },
        },
    ),
)
_QUERIES = (
    "",
    "?limit=1",
    "?labelSelector=app%3Dwool%2Cx%20in%20(a)%2C!y",
    "?fieldSelector=metadata.name%3Dp",
    "?resourceVersion=0",
    "?resourceVersion=1&resourceVersionMatch=NotOlderThan",
    "?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0",
    "?watch=1&timeoutSeconds=1",
    "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1",
    "?dryRun=All&fieldManager=m&fieldValidation=Strict",
    "?propagationPolicy=Foreground&gracePeriodSeconds=3",
    "?container=one&tailLines=3&sinceSeconds=5&timestamps=1",
)
_ACCEPTS = (
    JSON,
    "application/yaml",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/vnd.kubernetes.protobuf",
    "*/*",
    "text/html;q=x, application/json;q=0.1;;",
)
_TYPES = (JSON, "application/yaml", "application/vnd.kubernetes.protobuf", MERGE, APPLY, "", ";/")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW")
_BELOW = ("", "/status", "/scale", "/eviction", "/binding", "/log", "/exec", "/finalize", "/token")
_WORDS = ("", "x", "..", "a/b", "%", "é\u0000", "x" * 300, "a=b,c", "-1", "$patch", "\ud800", "🐑")
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 1.5, 10**30, 2**63, [], {}, [None], {"": None}),
    *([[]], [{}], {"$patch": "delete"}, {"name": 5}, *_WORDS),
)


def seeds() -> list[Asked]:
    """Requests in the order in which a world is made of them."""
    requests = [Asked("POST", path, json.dumps(body).encode()) for path, body in _OBJECTS]
    for path, body in _OBJECTS:
        name = body["metadata"]["name"]
        requests.append(Asked("GET", f"{path}/{name}"))
        requests.append(Asked("PUT", f"{path}/{name}", json.dumps(body).encode()))
        requests.append(Asked("PUT", f"{path}/{name}/status", json.dumps(body).encode()))
        applied = json.dumps(body).encode()
        requests.append(Asked("PATCH", f"{path}/{name}?fieldManager=m", applied, APPLY))
        requests += [
            Asked("PATCH", f"{path}/{name}", json.dumps(patch).encode(), kind)
            for kind, patch in _PATCHES
        ]
        requests.append(Asked("DELETE", f"{path}/{name}", b'{"propagationPolicy":"Background"}'))
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}}
    requests.append(Asked("POST", f"{SPACE}/pods/p/binding", json.dumps(binding).encode()))
    requests.append(Asked("POST", f"{SPACE}/pods/p/eviction", json.dumps(_named("p")).encode()))
    scale = json.dumps({"metadata": {"name": "d"}, "spec": {"replicas": 3}}).encode()
    requests.append(Asked("PUT", f"{APPS}/deployments/d/scale", scale))
    requests.append(
        Asked("PUT", "/api/v1/namespaces/spare/finalize", json.dumps(_named("spare")).encode())
    )
    return requests


def mutated(count: int, seed: int) -> Iterator[Asked]:
    """So many requests, each wrong in one to three ways."""
    dice = Dice(seed)
    known = seeds()
    yield from known[: len(_OBJECTS)]
    for _ in range(count):
        asked = dice.one_of(known)
        for _ in range(1 + dice.below(3)):
            asked = dice.one_of(_CHANGES)(asked, dice)
        yield asked


def _tree(asked: Asked, dice: Dice) -> Asked:
    """Another value somewhere in the body."""
    try:
        content = json.loads(asked.body)
    except ValueError:
        return _bytes(asked, dice)
    places = [*_places(content)]
    if not places:
        return asked
    holder, name = dice.one_of(places)
    below = dice.below(6)
    if below == 0 and isinstance(holder, dict):
        del holder[name]
    elif below == 1 and isinstance(holder, dict):
        holder[dice.one_of(_WORDS)] = holder.pop(name)
    elif below == 2 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[name]))
    elif below == 3:
        holder[name] = {"a": [holder[name]]}
    else:
        holder[name] = dice.one_of(_VALUES)
    return replace(asked, body=json.dumps(content).encode("utf-8", "surrogatepass"))


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(content, dict | list):
        pairs = content.items() if isinstance(content, dict) else enumerate(content)
        for name, one in list(pairs):
            yield content, name
            yield from _places(one)


def _bytes(asked: Asked, dice: Dice) -> Asked:
    """Some bytes less, more or other."""
    body = bytearray(asked.body or b"{}")
    below = dice.below(len(body))
    way = dice.below(4)
    if way == 0:
        del body[below:]
    elif way == 1:
        body[below] = dice.below(256)
    elif way == 2:
        body[below:below] = dice.one_of([b"[" * 500, b"{", b"\xff", b"1e999", b"&a *a", b'"a":1,'])
    else:
        del body[below : below + 1 + dice.below(8)]
    return replace(asked, body=bytes(body))


def _query(asked: Asked, dice: Dice) -> Asked:
    more = dice.one_of(_QUERIES)
    if dice.below(2) and more:
        place = 1 + dice.below(len(more) - 1)
        more = more[:place] + dice.one_of(["%zz", ";", "&", "=", "-9", "x", "%00"]) + more[place:]
    return replace(asked, path=asked.path.partition("?")[0] + more)


def _path(asked: Asked, dice: Dice) -> Asked:
    path, _, query = asked.path.partition("?")
    parts = path.split("/")
    place = 1 + dice.below(len(parts) - 1)
    parts[place : place + 1] = dice.one_of([[], ["x"], ["", "a"], [".."], ["%2e%2e"], ["watch"]])
    return replace(asked, path="/".join(["", *parts[1:]]) + (f"?{query}" if query else ""))


def _below(asked: Asked, dice: Dice) -> Asked:
    path, _, query = asked.path.partition("?")
    return replace(asked, path=path + dice.one_of(_BELOW) + (f"?{query}" if query else ""))


def _method(asked: Asked, dice: Dice) -> Asked:
    return replace(asked, method=dice.one_of(_METHODS))


def _kind(asked: Asked, dice: Dice) -> Asked:
    return replace(asked, kind=dice.one_of(_TYPES))


def _accept(asked: Asked, dice: Dice) -> Asked:
    return replace(asked, accept=dice.one_of(_ACCEPTS))


_CHANGES: tuple[Callable[[Asked, Dice], Asked], ...] = (
    *(_tree, _tree, _tree, _tree, _tree, _tree),
    *(_bytes, _query, _path, _below, _method, _kind, _accept),
)
