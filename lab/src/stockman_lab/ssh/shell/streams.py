"""What programs read and write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol


class Input(Protocol):
    """Something to read from."""

    async def read(self) -> bytes:
        """Everything up to the end."""
        ...


@dataclass(slots=True)
class Bytes:
    """An input that is known."""

    content: bytes = b""

    async def read(self) -> bytes:
        content, self.content = self.content, b""
        return content


@dataclass(slots=True)
class Wire:
    """An input that comes from somebody, later."""

    fetch: Callable[[], Awaitable[bytes]]

    async def read(self) -> bytes:
        return await self.fetch()


@dataclass(slots=True)
class Sink:
    """An output that is kept."""

    content: bytearray = field(default_factory=bytearray)

    def write(self, text: str | bytes) -> None:
        self.content += text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text


@dataclass(slots=True)
class Streams:
    """Input, output and errors of one program."""

    source: Input = field(default_factory=Bytes)
    out: Sink = field(default_factory=Sink)
    err: Sink = field(default_factory=Sink)
