"""AWS Signature Version 4 for S3 requests."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
EMPTY_DIGEST = hashlib.sha256(b"").hexdigest()


class SigningScope(NamedTuple):
    """Day, region and service that a signature is valid for."""

    moment: str
    """`20260101T120000Z`."""
    region: str
    service: str = "s3"

    @property
    def day(self) -> str:
        return self.moment[:8]

    @property
    def text(self) -> str:
        return f"{self.day}/{self.region}/{self.service}/aws4_request"


class CanonicalRequest(NamedTuple):
    """A request in the form that is signed."""

    method: str
    path: str
    """Not encoded."""
    query: Iterable[tuple[str, str]]
    """Not encoded, without the signature itself."""
    headers: Mapping[str, str]
    """Signed headers, with lower-case names."""
    payload: str
    """SHA-256 of the body in hex, or a placeholder."""

    @property
    def text(self) -> str:
        pairs = sorted(
            (_percent_encode(name), _percent_encode(value)) for name, value in self.query
        )
        names = sorted(self.headers)
        lines = [f"{name}:{' '.join(self.headers[name].split())}\n" for name in names]
        return "\n".join(
            [
                self.method,
                quote(self.path, safe="/~"),
                "&".join(f"{name}={value}" for name, value in pairs),
                "".join(lines),
                ";".join(names),
                self.payload,
            ]
        )


def signature(secret: str, scope: SigningScope, canonical: CanonicalRequest) -> str:
    """Return the signature of a request in hex."""
    digest = hashlib.sha256(canonical.text.encode()).hexdigest()
    return sign_text(secret, scope, f"{ALGORITHM}\n{scope.moment}\n{scope.text}\n{digest}")


def sign_text(secret: str, scope: SigningScope, text: str) -> str:
    """Return the signature of a text with a key of the scope."""
    key = f"AWS4{secret}".encode()
    for component in (scope.day, scope.region, scope.service, "aws4_request"):
        key = hmac.new(key, component.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _percent_encode(text: str) -> str:
    return quote(text, safe="~")
