"""Who asks: signatures of requests and of pieces of their bodies, checked."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from stockman.crypto.sigv4 import (
    ALGORITHM,
    UNSIGNED_PAYLOAD,
    CanonicalRequest,
    SigningScope,
    signature,
)
from stockman_lab.objects.refusals import denied, invalid, mismatch
from stockman_lab.objects.state import ObjectsState

_SKEW = timedelta(minutes=15)
_FORMAT = "%Y%m%dT%H%M%SZ"
_WEEK = 604_800


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A request as far as its signature is concerned."""

    method: str
    path: str
    """Decoded."""
    query: tuple[tuple[str, str], ...]
    """Decoded."""
    headers: Mapping[str, str]
    """Names in small letters."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request is from, and what the pieces of its body are signed with."""

    access_key: str
    secret: str
    scope: SigningScope
    signature: str
    payload: str
    """SHA-256 of the body, or what stands for it."""


def caller(state: ObjectsState, request: Signed, now: datetime) -> Caller:
    """Who asks; refused as S3 does where the signature is missing, wrong or too old."""
    fields = dict(request.query)
    if fields.get("X-Amz-Algorithm") == ALGORITHM:
        return _by_query(state, request, fields, now)
    authorization = request.headers.get("authorization", "")
    if not authorization.startswith(ALGORITHM):
        raise denied()
    return _by_header(state, request, authorization, now)


def _by_header(state: ObjectsState, request: Signed, authorization: str, now: datetime) -> Caller:
    values = dict(
        text.strip().partition("=")[::2]
        for text in authorization.removeprefix(ALGORITHM).split(",")
    )
    try:
        credential, names, given = (
            values["Credential"],
            values["SignedHeaders"].split(";"),
            values["Signature"],
        )
    except KeyError:
        raise invalid(
            "The authorization header is malformed.", "AuthorizationHeaderMalformed"
        ) from None
    moment = request.headers.get("x-amz-date", "")
    scope, access_key = _scope(state, credential, moment)
    _check_moment(moment, now)
    payload = request.headers.get("x-amz-content-sha256", "")
    if not payload:
        raise invalid("Missing required header for this request: x-amz-content-sha256")
    secret = _secret(state, access_key)
    canonical = CanonicalRequest(
        method=request.method,
        path=request.path,
        query=request.query,
        headers={name: request.headers.get(name, "") for name in names},
        payload=payload,
    )
    _compare(signature(secret, scope, canonical), given)
    return Caller(access_key, secret, scope, given, payload)


def _by_query(
    state: ObjectsState, request: Signed, fields: Mapping[str, str], now: datetime
) -> Caller:
    moment = fields.get("X-Amz-Date", "")
    scope, access_key = _scope(state, fields.get("X-Amz-Credential", ""), moment)
    try:
        began = datetime.strptime(moment, _FORMAT).replace(tzinfo=UTC)
        seconds = int(fields.get("X-Amz-Expires", ""))
    except ValueError:
        raise invalid(
            "X-Amz-Expires should be a number", "AuthorizationQueryParametersError"
        ) from None
    if not 0 < seconds <= _WEEK or now - began > timedelta(seconds=seconds):
        raise denied("Request has expired")
    secret = _secret(state, access_key)
    names = fields.get("X-Amz-SignedHeaders", "host").split(";")
    canonical = CanonicalRequest(
        method=request.method,
        path=request.path,
        query=[pair for pair in request.query if pair[0] != "X-Amz-Signature"],
        headers={name: request.headers.get(name, "") for name in names},
        payload=UNSIGNED_PAYLOAD,
    )
    x_amz_signature = fields.get("X-Amz-Signature", "")
    _compare(signature(secret, scope, canonical), x_amz_signature)
    return Caller(access_key, secret, scope, x_amz_signature, UNSIGNED_PAYLOAD)


def _scope(state: ObjectsState, credential: str, moment: str) -> tuple[SigningScope, str]:
    pieces = credential.split("/")
    if len(pieces) != 5 or pieces[4] != "aws4_request" or pieces[3] != "s3":
        raise invalid("The authorization header is malformed.", "AuthorizationHeaderMalformed")
    if pieces[2] != state.region:
        raise invalid(
            f"The authorization header is malformed; the region '{pieces[2]}' is wrong; expecting"
            f" '{state.region}'",
            "AuthorizationHeaderMalformed",
        )
    return SigningScope(moment, pieces[2]), pieces[0]


def _secret(state: ObjectsState, access_key: str) -> str:
    secret = state.keys.get(access_key)
    if secret is None:
        raise denied(
            "The AWS Access Key Id you provided does not exist in our records.",
            "InvalidAccessKeyId",
        )
    return secret


def _check_moment(moment: str, now: datetime) -> None:
    try:
        when = datetime.strptime(moment, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        raise denied("AWS authentication requires a valid Date or x-amz-date header") from None
    if abs(when - now) > _SKEW:
        raise denied(
            "The difference between the request time and the current time is too large.",
            "RequestTimeTooSkewed",
        )


def _compare(wanted: str, text: str) -> None:
    if not hmac.compare_digest(wanted.encode(), text.encode()):
        raise mismatch()
