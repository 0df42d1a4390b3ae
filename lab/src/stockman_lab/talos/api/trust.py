"""The service by which workers get the certificates of their API from the control plane."""

from __future__ import annotations

import hmac
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.schema import load_api_schema
from stockman_lab.talos.api.call import ApiLand, ApiMachine, Asked, Refusal
from stockman_lab.talos.api.dispatch import decoded, encoded, found_method

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import Trust

_SERVICE = "securityapi.SecurityService"


async def certified(
    land: ApiLand, machine: ApiMachine, asked: Asked
) -> AsyncGenerator[bytes, None]:
    """What the service answers to who knows the token of the cluster."""
    wire = load_api_schema(machine.minor)
    if asked.path.removeprefix("/").partition("/")[0] != _SERVICE:
        raise Refusal(
            GrpcCode.UNIMPLEMENTED, f"unknown service {asked.path[1:].rpartition('/')[0]}"
        )
    method = found_method(wire, asked.path, frozenset())
    trust = machine.trust
    if trust is None:
        raise Refusal(GrpcCode.UNAVAILABLE, "error reading server preface: EOF")
    _authenticate(trust, asked)
    async for piece in asked.pieces:
        request = cast("Any", decoded(wire, method, piece))
        signed = _signed(land, trust, request.csr)
        fields = {"ca": trust.accepted.encode(), "crt": signed.encode()}
        yield encoded(wire, method, fields)
        return


def _authenticate(trust: Trust, asked: Asked) -> None:
    shown = asked.headers.get("token")
    if not shown:
        raise Refusal(GrpcCode.UNAUTHENTICATED, "missing token")
    if not hmac.compare_digest(shown[0].encode(), trust.token.encode()):
        raise Refusal(GrpcCode.UNAUTHENTICATED, "invalid token")


def _signed(land: ApiLand, trust: Trust, request: bytes) -> str:
    from stockman_lab.talos.security.certificates import BadRequest, signed

    try:
        return signed(trust.ca, trust.key, request, datetime.fromtimestamp(land.now, UTC))
    except BadRequest as bad:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, str(bad)) from None
