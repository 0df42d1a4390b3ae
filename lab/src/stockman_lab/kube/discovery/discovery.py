"""Answers to what is asked of a server about itself, by path."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stockman_lab.kube.discovery.aggregated import aggregated
from stockman_lab.kube.discovery.groups import api_versions, group_list, group_named, resource_list
from stockman_lab.kube.discovery.health import CHECKS, health
from stockman_lab.kube.discovery.openapi import (
    document_v2,
    document_v3,
    group_version_paths,
    protobuf_v2,
)
from stockman_lab.kube.discovery.version import version_info
from stockman_lab.kube.schema.types import Types

Object: TypeAlias = dict[str, Any]
Query: TypeAlias = Mapping[str, Sequence[str]]

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
_FRESH = {"Cache-Control": "no-cache, private"}
_PROTOBUF_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_PLAIN = {"X-Content-Type-Options": "nosniff"}
_LAST_WITH_BETA = 35
"""The last minor whose aggregated discovery also spoke its beta version."""


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
                return self._pretty(path, {"paths": self._index()})
            case ["version"]:
                return self._pretty(path, version_info(self._version))
            case ["livez" | "readyz" | "healthz", *check]:
                return _health(words[0], "/".join(check), query, failing)
            case ["api" | "apis"]:
                return self._groups(words[0], accept)
            case ["api", version]:
                return self._listed(accept, resource_list(self._types, "", version))
            case ["apis", group]:
                return self._group(group, accept)
            case ["apis", group, version]:
                return self._version_of_group(group, version, accept)
            case ["openapi", "v2"]:
                return self._openapi_v2(accept)
            case ["openapi", "v3", *rest]:
                return self._openapi_v3("/".join(rest), query)
        return None

    def _groups(self, root: str, accept: str) -> Reply:
        is_legacy = root == "api"
        stage = self._stage(accept)
        if stage:
            body = self._kept(
                f"{root} {stage}",
                lambda: aggregated(self._types, stage, is_legacy=is_legacy),
            )
            content_type = f"{JSON};g=apidiscovery.k8s.io;v={stage};as=APIGroupDiscoveryList"
            tag = f'"{_hash(body)}"'
            return Reply(
                200, content_type, body, {"Cache-Control": "public", "Etag": tag, "Vary": "Accept"}
            )
        found = api_versions(self._address) if is_legacy else group_list(self._types)
        return self._listed(accept, found) or _not_found()

    def _stage(self, accept: str) -> str:
        """The version of aggregated discovery that a client takes, or nothing."""
        for one in accept.split(","):
            name, *parameters = (word.strip() for word in one.split(";"))
            given = dict(parameter.partition("=")[::2] for parameter in parameters)
            if name != JSON or given.get("as") != "APIGroupDiscoveryList":
                if name in (JSON, "*/*") and not given.get("as"):
                    return ""
                continue
            stage = given.get("v", "")
            with_beta = int(self._minor.partition(".")[2]) <= _LAST_WITH_BETA
            if stage == "v2" or (stage == "v2beta1" and with_beta):
                return stage
        return ""

    def _group(self, name: str, accept: str) -> Reply:
        return self._listed(accept, group_named(self._types, name)) or _not_found()

    def _version_of_group(self, group: str, version: str, accept: str) -> Reply | None:
        found = resource_list(self._types, group, version)
        if found is None and group_named(self._types, group) is None:
            return _not_found()
        return self._listed(accept, found)

    @staticmethod
    def _listed(accept: str, found: Object | None) -> Reply | None:
        if found is None:
            return None
        if not _takes_json(accept):
            return _not_acceptable()
        return Reply(200, JSON, _line(found), _FRESH)

    def _index(self) -> list[str]:
        paths = {"/api", "/apis", "/apis/", "/metrics", "/openapi/v2", "/openapi/v3", "/version"}
        paths |= {"/openapi/v3/", "/openid/v1/jwks", "/.well-known/openid-configuration"}
        for group, _, path in group_version_paths(self._types):
            paths |= {f"/{path}", f"/apis/{group}"} if group else {f"/{path}"}
        for name, checks in CHECKS.items():
            paths |= {f"/{name}", *(f"/{name}/{check}" for check in checks)}
        return sorted(paths)

    def _pretty(self, name: str, found: object) -> Reply:
        body = self._made.setdefault(name, json.dumps(found, indent=2).encode())
        return Reply(200, JSON, body, _FRESH)

    def _openapi_v2(self, accept: str) -> Reply:
        if _PROTOBUF_V2 in accept.replace("@", "."):
            return Reply(200, _PROTOBUF_V2, protobuf_v2(self._minor), _FRESH)
        if not _takes_json(accept):
            return Reply(406, TEXT, b"", _FRESH)
        body = self._kept("openapi/v2", lambda: document_v2(self._types, self._minor))
        return Reply(200, JSON, body, {**_FRESH, "Etag": f'"{_hash(body)}"'})

    def _openapi_v3(self, path: str, query: Query) -> Reply:
        if not path:
            return Reply(200, TEXT, self._kept("openapi/v3", self._openapi_index), _FRESH)
        for group, version, known in group_version_paths(self._types):
            if path.strip("/") == known:
                body = self._document(group, version)
                caching = {"Cache-Control": "public, immutable"} if "hash" in query else _FRESH
                headers = {**caching, "Etag": f'"{_hash(body)}"', "Vary": "Accept"}
                return Reply(200, JSON, body, headers)
        return Reply(404, TEXT, b"", _FRESH)

    def _openapi_index(self) -> Object:
        return {
            "paths": {
                path: {
                    "serverRelativeURL": (
                        f"/openapi/v3/{path}?hash={_hash(self._identity(group, version))}"
                    )
                }
                for group, version, path in sorted(
                    group_version_paths(self._types), key=lambda one: one[2]
                )
            }
        }

    def _identity(self, group: str, version: str) -> bytes:
        """What the content of a document depends on, without making it."""
        objects: list[Object] = [resource_list(self._types, group, version) or {}]
        objects += [
            dict(resource.declared)
            for resource in self._types.resources()
            if resource.is_custom and (resource.group, resource.version) == (group, version)
        ]
        return self._version.encode() + json.dumps(objects, sort_keys=True).encode()

    def _document(self, group: str, version: str) -> bytes:
        return self._kept(
            f"openapi/v3/{group}/{version}",
            lambda: document_v3(self._types, group, version, self._minor),
        )

    def _kept(self, name: str, made: Callable[[], Object]) -> bytes:
        if name not in self._made:
            self._made[name] = _line(made())
        return self._made[name]


def _health(name: str, check: str, query: Query, failing: Collection[str]) -> Reply:
    if check:
        if check not in CHECKS[name]:
            return _not_found()
        if check in failing:
            return Reply(500, TEXT, b"internal server error: reason withheld\n", _FRESH | _PLAIN)
        return Reply(200, TEXT, b"ok", _FRESH)
    found = health(name, failing, verbose="verbose" in query, excluded={*query.get("exclude", ())})
    return Reply(200 if found.passed else 500, TEXT, found.text.encode(), _FRESH | _PLAIN)


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _hash(body: bytes) -> str:
    return hashlib.sha512(body).hexdigest().upper()


def _takes_json(accept: str) -> bool:
    if not accept:
        return True
    for one in accept.split(","):
        name, *parameters = (word.strip() for word in one.split(";"))
        known = name in (JSON, "*/*", "application/*")
        if known and not any(parameter.startswith("as=") for parameter in parameters):
            return True
    return False


def _not_found() -> Reply:
    return Reply(404, TEXT, b"404 page not found\n", _FRESH | _PLAIN)


def _not_acceptable() -> Reply:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": (
            "only the following media types are accepted: application/json, application/yaml,"
            " application/vnd.kubernetes.protobuf"
        ),
        "reason": "NotAcceptable",
        "code": 406,
    }
    return Reply(406, JSON, json.dumps(status, indent=2).encode(), _FRESH)
