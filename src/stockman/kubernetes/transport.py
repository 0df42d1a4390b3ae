"""Requests and replies of the API, and the protocol of a transport for them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import field
from typing import Literal, Protocol
from urllib.parse import quote, urlencode

from stockman.kubernetes import problems
from stockman.model.errors import Rejected
from stockman.model.record import record

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
JSON = "application/json"


@record
class Request:
    """An API request."""

    method: Method
    segments: tuple[str, ...]
    """The segments of the path, not quoted."""
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    content_type: str = JSON
    accepts: str = JSON
    is_read: bool = True
    """Whether it changes nothing and may be repeated."""
    seconds: float = 20.0
    """Timeout of the whole request; for a stream, of each chunk."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Secret texts to mask in messages."""

    @property
    def shown(self) -> str:
        """The request for messages, without query and body, which may be confidential."""
        return f"{self.method} /{'/'.join(self.segments)}"

    @property
    def target(self) -> str:
        """The quoted path and query; raises `Rejected` for invalid segments."""
        for segment in self.segments:
            if segment in ("", ".", "..") or "/" in segment:
                raise Rejected(problems.invalid_name(self.shown, segment))
        path = "/" + "/".join(quote(segment, safe=":") for segment in self.segments)
        return f"{path}?{urlencode(self.query)}" if self.query else path


@record
class Reply:
    """A reply of any status."""

    status: int
    body: bytes = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names in lower case."""

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300


class Transport(Protocol):
    """Sends requests. Raises if no reply arrives; error replies are returned."""

    async def call(self, request: Request) -> Reply:
        """Send a request and return the reply."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Yield the body of a reply in chunks as the caller reads them.

        An error reply raises the error that `errors.reply_error` returns.
        """
        ...
