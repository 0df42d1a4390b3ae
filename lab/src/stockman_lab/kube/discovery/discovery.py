"""Answers to what is asked of a server about itself, by path."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from stockman_lab.kube.discovery.groups import (
    api_versions,
    group_list,
    group_named,
    resource_list,
    resources_of,
)
from stockman_lab.kube.schema.resource import Group, Resource, Subresource
from stockman_lab.kube.schema.types import Types

_WRITING = ("dryRun", "fieldManager", "fieldValidation")
_METHODS = {"create": "post", "update": "put", "patch": "patch", "delete": "delete"}


def group_version_paths(types: Types) -> list[tuple[str, str, str]]:
    """Group, version and path (`api/v1`, `apis/apps/v1`) of every document."""
    return [
        (group.name, version, _root(group.name, version).strip("/"))
        for group in types.groups()
        for version in group.versions
    ]


def document_v3(types: Types, group: str, version: str, minor: str) -> Object:
    """The document of one version of a group."""
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": minor},
        "paths": dict(_paths(resources_of(types, group, version))),
        "components": {"schemas": {}},
    }


def protobuf_v2(minor: str) -> bytes:
    """The document of version 2 in protobuf: its head alone, without paths and definitions.

    kubectl asks for it where a kind is in no document of version 3, and then finds it nowhere.
    """
    info = _text(1, "Kubernetes") + _text(2, minor)
    return _text(1, "2.0") + _bytes(2, info)


def _text(number: int, text: str) -> bytes:
    return _bytes(number, text.encode())


def _bytes(number: int, content: bytes) -> bytes:
    """A field of a message; all that are needed are shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def _root(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _paths(resources: list[Resource]) -> Iterator[tuple[str, Object]]:
    for resource in resources:
        root = _root(resource.group, resource.version)
        space = "/namespaces/{namespace}" if resource.namespaced else ""
        path = f"{root}{space}/{resource.plural}"
        yield path, dict(_operations(resource, ("create",)))
        yield f"{path}/{{name}}", dict(_operations(resource, ("update", "patch", "delete")))


def _operations(resource: Resource, verbs: tuple[str, ...]) -> Iterator[tuple[str, Object]]:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    for verb in verbs:
        method = _METHODS[verb]
        names = () if verb == "delete" else _WRITING
        yield (
            method,
            {
                "responses": {"200": {"description": "OK"}},
                "x-kubernetes-action": method,
                "x-kubernetes-group-version-kind": kind,
                "parameters": [
                    {"name": name, "in": "query", "schema": {"type": "string"}} for name in names
                ],
            },
        )


def aggregated(types: Types, *, is_legacy: bool) -> Object:
    """What `/api` (legacy) or `/apis` says."""
    groups = [group for group in types.groups() if is_legacy is not bool(group.name)]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_group(types, group) for group in groups],
    }


def _group(types: Types, group: Group) -> Object:
    versions = []
    for version in group.versions:
        resources = [_resource(resource) for resource in resources_of(types, group.name, version)]
        versions.append({"version": version, "resources": resources, "freshness": "Current"})
    return {"metadata": {"name": group.name} if group.name else {}, "versions": versions}


def _resource(resource: Resource) -> Object:
    content: Object = {
        "resource": resource.plural,
        "responseKind": _kind(resource, resource.group, resource.version, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": [*resource.verbs],
    }
    if resource.short_names:
        content["shortNames"] = [*resource.short_names]
    if resource.categories:
        content["categories"] = [*resource.categories]
    if resource.subresources:
        content["subresources"] = [
            _below(resource, subresource) for subresource in resource.subresources.values()
        ]
    return content


def _below(resource: Resource, below: Subresource) -> Object:
    return {
        "subresource": below.name,
        "responseKind": _kind(resource, below.group, below.version, below.kind),
        "verbs": [*below.verbs],
    }


def _kind(resource: Resource, group: str, version: str, kind: str) -> Object:
    # Of built-in kinds group and version are said only where they are others.
    if not resource.is_custom and (group, version) == (resource.group, resource.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}


_STARTED = ("poststarthook/rbac/bootstrap-roles", "poststarthook/bootstrap-controller")
_ALIVE = ("ping", "log", "etcd", *_STARTED)
CHECKS: Mapping[str, tuple[str, ...]] = {
    "livez": _ALIVE,
    "readyz": ("ping", "log", "etcd", "etcd-readiness", "informer-sync", *_STARTED, "shutdown"),
    "healthz": _ALIVE,
}
"""What each of them looks at, in the order in which it is told."""


class Health(NamedTuple):
    """An answer: whether all is well, and the text."""

    passed: bool
    text: str


def health(name: str, failing: Collection[str] = (), *, verbose: bool = False) -> Health:
    """What `livez`, `readyz` or `healthz` says when some of its checks fail.

    A client is told which fail, never why.
    """
    passed = not set(failing) & set(CHECKS[name])
    if passed and not verbose:
        return Health(True, "ok")
    lines = [
        f"[-]{check} failed: reason withheld" if check in failing else f"[+]{check} ok"
        for check in CHECKS[name]
    ]
    return Health(passed, "\n".join([*lines, f"{name} check {'passed' if passed else 'failed'}"]))


_GO = {33: "go1.24.6", 34: "go1.24.6", 35: "go1.25.5", 36: "go1.26.8"}
_OLDEST_WITH_EMULATION = 34


def version_info(version: str) -> dict[str, str]:
    """What a server of a version (`v1.36.3`) says of itself."""
    major, minor, *_ = version.removeprefix("v").split(".")
    number = int(minor)
    result = {"major": major, "minor": minor}
    if number >= _OLDEST_WITH_EMULATION:
        result |= {
            "emulationMajor": major,
            "emulationMinor": minor,
            "minCompatibilityMajor": major,
            "minCompatibilityMinor": str(number - 1),
        }
    newest = max(_GO)
    return result | {
        "gitVersion": version,
        "gitCommit": hashlib.sha1(version.encode(), usedforsecurity=False).hexdigest(),
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": _GO.get(number, _GO[newest]),
        "compiler": "gc",
        "platform": "linux/amd64",
    }


Object: TypeAlias = dict[str, Any]
Query: TypeAlias = Mapping[str, Sequence[str]]

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
_FRESH = {"Cache-Control": "no-cache, private"}
_PROTOBUF_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Discovery:
    """All that a server tells of itself. Documents are made when they are first asked for."""

    def __init__(self, types: Types, version: str, address: str) -> None:
        """The version is the server's (`v1.36.3`), the address where it is reached."""
        self._types = types
        self._version = version
        self._address = address
        self._minor = ".".join(version.removeprefix("v").split(".")[:2])
        self._made: dict[str, bytes] = {}

    def reply(
        self, path: str, query: Query, accept: str, failing: Collection[str] = ()
    ) -> Reply | None:
        """The answer to a GET; None: the path is none of discovery.

        `failing` names the checks of health that fail now, as `etcd`.
        """
        words = path.strip("/").split("/")
        match words:
            case [""]:
                paths = [f"/{path}" for _, _, path in group_version_paths(self._types)]
                return _json_reply({"paths": sorted(paths)})
            case ["version"]:
                return _json_reply(version_info(self._version))
            case ["livez" | "readyz" | "healthz", *check]:
                return _health(words[0], "/".join(check), query, failing)
            case ["api" | "apis"] if _takes_aggregation(accept):
                return self._aggregation_reply(words[0])
            case ["api"]:
                return _json_reply(api_versions(self._address))
            case ["apis"]:
                return _json_reply(group_list(self._types))
            case ["api", version]:
                return _json_reply(resource_list(self._types, "", version))
            case ["apis", group]:
                return _json_reply(group_named(self._types, group))
            case ["apis", group, version]:
                return _json_reply(resource_list(self._types, group, version))
            case ["openapi", "v2"] if _PROTOBUF_V2 in accept.replace("@", "."):
                return Reply(200, _PROTOBUF_V2, protobuf_v2(self._minor), _FRESH)
            case ["openapi", "v3", *rest]:
                return self._openapi("/".join(rest))
        return None

    def _aggregation_reply(self, root: str) -> Reply:
        is_legacy = root == "api"
        body = self._kept(root, lambda: aggregated(self._types, is_legacy=is_legacy))
        headers = {"Cache-Control": "public", "Etag": f'"{_hash(body)}"', "Vary": "Accept"}
        return Reply(200, _AGGREGATED, body, headers)

    def _openapi(self, path: str) -> Reply | None:
        documents = group_version_paths(self._types)
        if not path:
            paths = {
                known: {"serverRelativeURL": f"/openapi/v3/{known}?hash={self._identity(*of)}"}
                for *of, known in documents
            }
            return _json_reply({"paths": paths})
        for group, version, known in documents:
            if path == known:
                body = _line(document_v3(self._types, group, version, self._minor))
                return Reply(200, JSON, body, {**_FRESH, "Etag": f'"{_hash(body)}"'})
        return None

    def _identity(self, group: str, version: str) -> str:
        """What changes when a document does."""
        resources = resource_list(self._types, group, version)
        return _hash(_line([self._version, resources]))

    def _kept(self, name: str, result: Callable[[], Object]) -> bytes:
        if name not in self._made:
            self._made[name] = _line(result())
        return self._made[name]


def _takes_aggregation(accept: str) -> bool:
    """Whether a client prefers all groups with all their resources in one answer."""
    first = accept.replace(" ", "").partition(",")[0].split(";")
    return first[0] == JSON and {"v=v2", "as=APIGroupDiscoveryList"} <= set(first)


def _json_reply(result: object | None) -> Reply | None:
    return None if result is None else Reply(200, JSON, _line(result), _FRESH)


def _health(name: str, check: str, query: Query, failing: Collection[str]) -> Reply | None:
    if check and check not in CHECKS[name]:
        return None
    result = health(name, {*failing} & {check} if check else failing, verbose="verbose" in query)
    return Reply(200 if result.passed else 500, TEXT, result.text.encode(), _FRESH)


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _hash(body: bytes) -> str:
    return hashlib.sha512(body).hexdigest().upper()
