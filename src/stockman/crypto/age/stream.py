"""Bytes that arrive in pieces of any size, read in pieces of a chosen size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol


class Readable(Protocol):
    """An open binary file, or what behaves like one."""

    def read(self, size: int, /) -> bytes: ...


READ_BYTES = 1 << 18
"""How much is read from a file at once."""


def read_chunks(file: Readable) -> Iterator[bytes]:
    """The content of a file in pieces, for `encrypted` and `decrypted`."""
    while piece := file.read(READ_BYTES):
        yield piece


class ByteStream:
    """Reads exact amounts from an iterable of bytes and never holds much more than one piece."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._parts = iter(chunks)
        self._held = memoryview(b"")

    def read(self, size: int) -> bytes | memoryview:
        """The next `size` bytes; fewer only at the end."""
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
        """Bytes up to and with the next line feed; without one only at the end or the limit."""
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
        """Everything that is left, in pieces."""
        if self._held:
            yield bytes(self._held)
            self._held = memoryview(b"")
        yield from self._parts

    def peek(self, size: int) -> bytes:
        """The next `size` bytes without taking them; fewer only at the end."""
        data = bytes(self.read(size))
        self._held = memoryview(data + bytes(self._held))
        return data

    def _refill(self) -> bool:
        for chunk in self._parts:
            if chunk:
                self._held = memoryview(chunk)
                return True
        return False
