"""What carries questions to a factory or a registry, and answers back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Protocol

from stockman.model.record import record


@record
class ImageRequest:
    """One request."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def shown(self) -> str:
        """For people; without a query, which may hold signatures."""
        return f"{self.method} {self.url.partition('?')[0]}"


@record
class ImageResponse:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""


@record
class ImageStream:
    """What comes back piece by piece."""

    answer: ImageResponse
    """With a body only where it is an error."""
    pieces: AsyncIterator[bytes]


class ImageTransport(Protocol):
    """Carries questions. Raises `Unreachable` where nobody answers; any answer is an answer."""

    async def ask(self, question: ImageRequest) -> ImageResponse:
        """The whole answer; it is never large."""
        ...

    def stream(self, question: ImageRequest) -> AbstractAsyncContextManager[ImageStream]:
        """An answer of any size."""
        ...
