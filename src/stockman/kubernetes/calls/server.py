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
    """Server calls."""

    async def server_version(self) -> ServerVersion:
        """The version of the API server."""
        return await self._read(("version",), _read_version)

    async def readiness(self) -> Readiness:
        """Return whether the server is ready, and which checks fail."""
        request = Request(
            method="GET",
            segments=("readyz",),
            query=(("verbose", "true"),),
            accepts="text/plain, */*",
            seconds=READ_SECONDS,
        )
        reply = await self._transport.call(request)
        if reply.status not in (HTTPStatus.OK, HTTPStatus.INTERNAL_SERVER_ERROR):
            raise reply_error(request, reply)
        checks = _CHECK.findall(reply.body.decode("utf-8", "replace"))
        if not checks:
            raise unexpected_answer(request, "it lists no checks")
        failed = tuple(name for sign, name in checks if sign == "-")
        return Readiness(ready=reply.is_good and not failed, failed=failed)

    async def find_kind(self, api_version: str, name: str) -> ResourceKind | None:
        """Return a kind by its name. None: the server does not serve it."""
        try:
            return await self._read(
                group_path(api_version), lambda row: _find_kind(api_version, name, row)
            )
        except Unsupported:
            return None

    async def serves(self, kind: ResourceKind) -> bool:
        """Return whether the server serves a kind."""
        served = await self.find_kind(kind.api_version, kind.name)
        return served == kind


def _read_version(row: Row) -> ServerVersion:
    return ServerVersion(tag=text(row, "gitVersion"), platform=optional_text(row, "platform"))


def _find_kind(api_version: str, name: str, row: Row) -> ResourceKind | None:
    if not isinstance(row.get("resources"), list):
        raise UnexpectedAnswer("resources are missing")
    for resource in mappings(row, "resources"):
        plural = text(resource, "name")
        if resource.get("kind") == name and "/" not in plural:
            return ResourceKind(
                api_version=api_version,
                name=name,
                plural=plural,
                is_namespaced=boolean(resource, "namespaced"),
            )
    return None


_AUTHORIZATION = "authorization.k8s.io"


class AccessCalls(Calls):
    """Access calls."""

    async def may(self, permission: Permission) -> AccessReview:
        """Ask the server whether the user has a permission."""
        resource, _, subresource = permission.resource.partition("/")
        attributes = {
            "verb": permission.verb,
            "group": permission.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": permission.namespace,
            "name": permission.name,
        }
        change = Change(
            method="POST",
            path=("apis", _AUTHORIZATION, "v1", "selfsubjectaccessreviews"),
            content={
                "apiVersion": f"{_AUTHORIZATION}/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {
                    "resourceAttributes": {key: value for key, value in attributes.items() if value}
                },
            },
            manager="",
            is_read=True,
        )
        return await self._change(change, _read_review)

    async def token(self, request: TokenRequest) -> ServiceAccountToken:
        """Create a token of a service account, which expires."""
        ref = ObjectRef(kind=SERVICE_ACCOUNTS, name=request.account, namespace=request.namespace)
        change = Change(
            method="POST",
            path=object_path(ref, "token"),
            content={
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"audiences": [*request.audiences], "expirationSeconds": request.seconds},
            },
            manager="",
        )
        return await self._change(change, _read_token)


def _read_review(row: Row) -> AccessReview:
    status = mapping(row, "status")
    if "allowed" not in status:
        raise UnexpectedAnswer("allowed is missing")
    return AccessReview(allowed=boolean(status, "allowed"), why=optional_text(status, "reason"))


def _read_token(row: Row) -> ServiceAccountToken:
    status = mapping(row, "status")
    expires = timestamp(status, "expirationTimestamp")
    if expires is None:
        raise UnexpectedAnswer("expirationTimestamp is missing")
    return ServiceAccountToken(value=Secret(text(status, "token"), resolved=True), expires=expires)
