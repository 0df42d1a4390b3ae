"""Calls about the server itself."""

from __future__ import annotations

import re
from http import HTTPStatus

from stockman.kubernetes.calls import READ_SECONDS, Calls
from stockman.kubernetes.paths import group_path
from stockman.kubernetes.refusals import odd_answer, refusal
from stockman.kubernetes.rows import OddAnswer, Row, parts, text, text_or_none, yes
from stockman.kubernetes.wire import Request
from stockman.model.errors import Unsupported
from stockman.ports.kubernetes.kinds import Kind
from stockman.ports.kubernetes.server import Readiness, ServerVersion

_CHECK = re.compile(r"^\[(?P<sign>[+-])\](?P<name>\S+)", re.MULTILINE)


class ServerCalls(Calls):
    """`ports.kubernetes.server.Server` over a wire."""

    async def server_version(self) -> ServerVersion:
        return await self._read(("version",), _version)

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
            raise refusal(request, reply)
        checks = _CHECK.findall(reply.body.decode("utf-8", "replace"))
        if not checks:
            raise odd_answer(request, "it names no checks")
        failed = tuple(name for sign, name in checks if sign == "-")
        return Readiness(ready=reply.is_good and not failed, failed=failed)

    async def served_kind(self, api_version: str, name: str) -> Kind | None:
        try:
            return await self._read(
                group_path(api_version), lambda row: _kind(api_version, name, row)
            )
        except Unsupported:
            return None

    async def serves(self, kind: Kind) -> bool:
        found = await self.served_kind(kind.api_version, kind.name)
        return found == kind


def _version(row: Row) -> ServerVersion:
    return ServerVersion(tag=text(row, "gitVersion"), platform=text_or_none(row, "platform"))


def _kind(api_version: str, name: str, row: Row) -> Kind | None:
    if not isinstance(row.get("resources"), list):
        raise OddAnswer("resources are not told")
    for one in parts(row, "resources"):
        plural = text(one, "name")
        if one.get("kind") == name and "/" not in plural:
            return Kind(
                api_version=api_version,
                name=name,
                plural=plural,
                is_namespaced=yes(one, "namespaced"),
            )
    return None
