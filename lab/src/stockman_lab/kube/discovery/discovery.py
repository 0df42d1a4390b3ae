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
from stockman_lab.kube.discovery.openapi import document_v3, group_version_paths, protobuf_v2
from stockman_lab.kube.schema.types import Types

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
