"""Requests as clients sign them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

from stockman_lab.objects.bodies import chunk_signature, trailer_signature

from stockman.crypto.sigv4 import (
    ALGORITHM,
    UNSIGNED_PAYLOAD,
    CanonicalRequest,
    SigningScope,
    signature,
)


@dataclass(frozen=True)
class Signer:
    """Somebody with a key."""

    access_key: str
    secret: str
    host: str
    region: str = "us-east-1"

    def headers(
        self, ask: Ask, now: datetime, payload: str | None = None, *, length: int | None = None
    ) -> dict[str, str]:
        """The headers of a request, the signature among them."""
        moment = f"{now:%Y%m%dT%H%M%SZ}"
        scope = SigningScope(moment, self.region)
        payload = payload or hashlib.sha256(ask.body).hexdigest()
        values = {name.lower(): value for name, value in ask.headers.items()}
        headers = {
            **values,
            "host": self.host,
            "x-amz-date": moment,
            "x-amz-content-sha256": payload,
        }
        if length is not None:
            headers["x-amz-decoded-content-length"] = str(length)
        canonical = CanonicalRequest(
            ask.method, ask.path, list(ask.query.items()), headers, payload
        )
        text = signature(self.secret, scope, canonical)
        names = ";".join(sorted(headers))
        headers["authorization"] = (
            f"{ALGORITHM} Credential={self.access_key}/{scope.text},"
            f" SignedHeaders={names}, Signature={text}"
        )
        return headers

    def presigned(self, ask: Ask, now: datetime, seconds: int = 60) -> str:
        """The target of a request that carries its signature in the query."""
        scope = SigningScope(f"{now:%Y%m%dT%H%M%SZ}", self.region)
        query = {
            **ask.query,
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{self.access_key}/{scope.text}",
            "X-Amz-Date": scope.moment,
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
        }
        canonical = CanonicalRequest(
            ask.method, ask.path, list(query.items()), {"host": self.host}, UNSIGNED_PAYLOAD
        )
        query["X-Amz-Signature"] = signature(self.secret, scope, canonical)
        return Ask(ask.method, ask.path, query).target

    def in_pieces(self, ask: Ask, now: datetime, trailer: str = "") -> tuple[dict[str, str], bytes]:
        """Headers and body of an upload in pieces that are signed one by one."""
        kind = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
        more = {"x-amz-trailer": trailer.partition(":")[0]} if trailer else {}
        ask = Ask(
            ask.method,
            ask.path,
            ask.query,
            {**ask.headers, **more, "content-encoding": "aws-chunked"},
            ask.body,
        )
        headers = self.headers(
            ask, now, f"{kind}-TRAILER" if trailer else kind, length=len(ask.body)
        )
        scope = SigningScope(headers["x-amz-date"], self.region)
        previous = headers["authorization"].rpartition("=")[2]
        size, body = 65_536, b""
        pieces = [ask.body[at : at + size] for at in range(0, len(ask.body), size)]
        for piece in [*pieces, b""]:
            previous = chunk_signature(self.secret, scope, previous, piece)
            end = b"\r\n" if piece or not trailer else b""
            body += f"{len(piece):x};chunk-signature={previous}\r\n".encode() + piece + end
        if trailer:
            text = trailer_signature(self.secret, scope, previous, f"{trailer}\n".encode())
            body += f"{trailer}\r\nx-amz-trailer-signature:{text}\r\n\r\n".encode()
        return headers, body

    def with_trailer(self, ask: Ask, now: datetime, trailer: str) -> tuple[dict[str, str], bytes]:
        """Headers and body of an upload in pieces with a check sum behind them."""
        extra = {"x-amz-trailer": trailer.partition(":")[0], "content-encoding": "aws-chunked"}
        ask = Ask(ask.method, ask.path, ask.query, {**ask.headers, **extra}, ask.body)
        headers = self.headers(ask, now, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", length=len(ask.body))
        body = f"{len(ask.body):x}\r\n".encode() + ask.body + b"\r\n0\r\n"
        return headers, body + f"{trailer}\r\n\r\n".encode()


@dataclass(frozen=True)
class Ask:
    """A request before it is signed."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def target(self) -> str:
        path = quote(self.path, safe="/~")
        return f"{path}?{urlencode(self.query, quote_via=quote)}" if self.query else path


def later(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=seconds)
