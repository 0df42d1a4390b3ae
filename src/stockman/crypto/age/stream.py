"""Byte streams that arrive in chunks of any size, read in exact amounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol


class Readable(Protocol):
    """An open binary file, or an object that behaves like one."""

    def read(self, size: int, /) -> bytes: ...


READ_BYTES = 1 << 18
"""Number of bytes to read from a file at once."""


def read_chunks(file: Readable) -> Iterator[bytes]:
    """Yield the content of a file in chunks, for `encrypt_stream` and `decrypt_stream`."""
    while piece := file.read(READ_BYTES):
        yield piece


class ByteStream:
    """Reads exact amounts from an iterable of bytes, buffering little more than one chunk."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._parts = iter(chunks)
        self._held = memoryview(b"")

    def read(self, size: int) -> bytes | memoryview:
        """Return the next `size` bytes; fewer only at the end."""
        if len(self._held) >= size:
            taken, self._held = self._held[:size], self._held[size:]
            return taken
        data = bytearray(self._held)
        self._held = memoryview(b"")
        for chunk in self._parts:
            missing = size - len(data)
            view = memoryview(chunk)
            data += view[:missing]
            if len(view) >= missing:
                self._held = view[missing:]
                break
        return bytes(data)

    def read_line(self, limit: int) -> bytes:
        """Return bytes up to and including the next line feed, or up to the end or limit."""
        data = bytearray()
        while len(data) < limit:
            if not self._held and not self._refill():
                break
            end = bytes(self._held[: limit - len(data)]).find(b"\n")
            size = min(end + 1 if end >= 0 else len(self._held), limit - len(data))
            data += self._held[:size]
            self._held = self._held[size:]
            if end >= 0:
                break
        return bytes(data)

    @property
    def at_end(self) -> bool:
        return not self._held and not self._refill()

    def read_all(self) -> Iterator[bytes]:
        """Yield everything that is left, in chunks."""
        if self._held:
            yield bytes(self._held)
            self._held = memoryview(b"")
        yield from self._parts

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes without consuming them; fewer only at the end."""
        data = bytes(self.read(size))
        self._held = memoryview(data + bytes(self._held))
        return data

    def _refill(self) -> bool:
        for chunk in self._parts:
            if chunk:
                self._held = memoryview(chunk)
                return True
        return False
