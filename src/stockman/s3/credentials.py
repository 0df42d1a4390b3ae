"""S3 credentials, and requests signed with them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from urllib.parse import quote, unquote, urlencode, urlsplit

from stockman.crypto.sigv4 import ALGORITHM, CanonicalRequest, SigningScope, signature
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.s3.transport import S3Request


@record
class S3Credentials:
    """An access key."""

    access_key: Secret
    secret_key: Secret
    session_token: Secret | None = None
    """None: a permanent key."""


@record
class UnsignedRequest:
    """A request before it is signed."""

    method: str
    url: str
    """Without a query."""
    shown: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def sign_request(
    request: UnsignedRequest, credentials: S3Credentials, region: str, now: datetime
) -> S3Request:
    """Sign a request for a region at a time."""
    parts = urlsplit(request.url)
    scope = SigningScope(f"{now:%Y%m%dT%H%M%SZ}", region)
    payload = hashlib.sha256(request.body).hexdigest()
    headers = {
        **{name.lower(): value for name, value in request.headers.items()},
        "host": parts.netloc,
        "x-amz-content-sha256": payload,
        "x-amz-date": scope.moment,
    }
    if credentials.session_token is not None:
        headers["x-amz-security-token"] = credentials.session_token.reveal()
    canonical = CanonicalRequest(
        request.method, unquote(parts.path), request.query, headers, payload
    )
    request_signature = signature(credentials.secret_key.reveal(), scope, canonical)
    headers["authorization"] = (
        f"{ALGORITHM} Credential={credentials.access_key.reveal()}/{scope.text},"
        f" SignedHeaders={';'.join(sorted(headers))}, Signature={request_signature}"
    )
    query = urlencode(request.query, quote_via=quote)
    return S3Request(
        method=request.method,
        url=f"{request.url}?{query}" if query else request.url,
        headers=headers,
        shown=request.shown,
        body=request.body,
    )
