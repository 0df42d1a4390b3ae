"""Transport of requests to a factory or a registry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Protocol

from stockman.model.record import record


@record
class ImageRequest:
    """An HTTP request."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def shown(self) -> str:
        """The request for messages; without the query, which may contain signatures."""
        return f"{self.method} {self.url.partition('?')[0]}"


@record
class ImageResponse:
    """A complete HTTP response."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""


@record
class ImageStream:
    """A response that is read in chunks."""

    response: ImageResponse
    """Has a body only for errors."""
    chunks: AsyncIterator[bytes]


class ImageTransport(Protocol):
    """Sends requests. Raises `Unreachable` without a response; any response is returned."""

    async def ask(self, request: ImageRequest) -> ImageResponse:
        """Return the whole response; it is never large."""
        ...

    def stream(self, request: ImageRequest) -> AbstractAsyncContextManager[ImageStream]:
        """Return a response of any size."""
        ...
