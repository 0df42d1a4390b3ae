"""Calls about the server itself."""

from __future__ import annotations

import re
from http import HTTPStatus

from stockman.kubernetes.calls.base import READ_SECONDS, Calls, Change
from stockman.kubernetes.errors import Permission, reply_error, unexpected_answer
from stockman.kubernetes.objects import (
    SERVICE_ACCOUNTS,
    ObjectRef,
    ResourceKind,
    group_path,
    object_path,
)
from stockman.kubernetes.rows import (
    Row,
    UnexpectedAnswer,
    boolean,
    mapping,
    mappings,
    optional_text,
    text,
    timestamp,
)
from stockman.kubernetes.server import (
    AccessReview,
    Readiness,
    ServerVersion,
    ServiceAccountToken,
    TokenRequest,
)
from stockman.kubernetes.transport import Request
from stockman.model.errors import Unsupported
from stockman.model.secret import Secret

_CHECK = re.compile(r"^\[(?P<sign>[+-])\](?P<name>\S+)", re.MULTILINE)


class ServerCalls(Calls):
    """`ports.kubernetes.server.Server` over a wire."""

    async def server_version(self) -> ServerVersion:
        return await self._read(("version",), _read_version)

    async def readiness(self) -> Readiness:
        request = Request(
            method="GET",
            segments=("readyz",),
            query=(("verbose", "true"),),
            accepts="text/plain, */*",
            seconds=READ_SECONDS,
        )
        reply = await self._wire.call(request)
        if reply.status not in (HTTPStatus.OK, HTTPStatus.INTERNAL_SERVER_ERROR):
            raise reply_error(request, reply)
        checks = _CHECK.findall(reply.body.decode("utf-8", "replace"))
        if not checks:
            raise unexpected_answer(request, "it names no checks")
        failed = tuple(name for sign, name in checks if sign == "-")
        return Readiness(ready=reply.is_good and not failed, failed=failed)

    async def served_kind(self, api_version: str, name: str) -> ResourceKind | None:
        try:
            return await self._read(
                group_path(api_version), lambda row: _find_kind(api_version, name, row)
            )
        except Unsupported:
            return None

    async def serves(self, kind: ResourceKind) -> bool:
        found = await self.served_kind(kind.api_version, kind.name)
        return found == kind


def _read_version(row: Row) -> ServerVersion:
    return ServerVersion(tag=text(row, "gitVersion"), platform=optional_text(row, "platform"))


def _find_kind(api_version: str, name: str, row: Row) -> ResourceKind | None:
    if not isinstance(row.get("resources"), list):
        raise UnexpectedAnswer("resources are not told")
    for one in mappings(row, "resources"):
        plural = text(one, "name")
        if one.get("kind") == name and "/" not in plural:
            return ResourceKind(
                api_version=api_version,
                name=name,
                plural=plural,
                is_namespaced=boolean(one, "namespaced"),
            )
    return None


_AUTHORIZATION = "authorization.k8s.io"


class AccessCalls(Calls):
    """`ports.kubernetes.access.Access` over a wire."""

    async def may(self, right: Permission) -> AccessReview:
        resource, _, subresource = right.resource.partition("/")
        wanted = {
            "verb": right.verb,
            "group": right.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": right.namespace,
            "name": right.name,
        }
        change = Change(
            method="POST",
            path=("apis", _AUTHORIZATION, "v1", "selfsubjectaccessreviews"),
            content={
                "apiVersion": f"{_AUTHORIZATION}/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {key: one for key, one in wanted.items() if one}},
            },
            manager="",
            is_read=True,
        )
        return await self._change(change, _read_review)

    async def token(self, wish: TokenRequest) -> ServiceAccountToken:
        ref = ObjectRef(kind=SERVICE_ACCOUNTS, name=wish.account, namespace=wish.namespace)
        change = Change(
            method="POST",
            path=object_path(ref, "token"),
            content={
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"audiences": [*wish.audiences], "expirationSeconds": wish.seconds},
            },
            manager="",
        )
        return await self._change(change, _read_token)


def _read_review(row: Row) -> AccessReview:
    status = mapping(row, "status")
    if "allowed" not in status:
        raise UnexpectedAnswer("allowed is not told")
    return AccessReview(allowed=boolean(status, "allowed"), why=optional_text(status, "reason"))


def _read_token(row: Row) -> ServiceAccountToken:
    status = mapping(row, "status")
    expires = timestamp(status, "expirationTimestamp")
    if expires is None:
        raise UnexpectedAnswer("expirationTimestamp is not told")
    return ServiceAccountToken(value=Secret(text(status, "token"), resolved=True), expires=expires)
