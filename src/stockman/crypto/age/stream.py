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

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = iter(parts)
        self._held = memoryview(b"")

    def take(self, size: int) -> bytes | memoryview:
        """The next `size` bytes; fewer only at the end."""
        if len(self._held) >= size:
            taken, self._held = self._held[:size], self._held[size:]
            return taken
        found = bytearray(self._held)
        self._held = memoryview(b"")
        for part in self._parts:
            missing = size - len(found)
            view = memoryview(part)
            found += view[:missing]
            if len(view) >= missing:
                self._held = view[missing:]
                break
        return bytes(found)

    def line(self, limit: int) -> bytes:
        """Bytes up to and with the next line feed; without one only at the end or the limit."""
        found = bytearray()
        while len(found) < limit:
            if not self._held and not self._refill():
                break
            end = bytes(self._held[: limit - len(found)]).find(b"\n")
            size = min(end + 1 if end >= 0 else len(self._held), limit - len(found))
            found += self._held[:size]
            self._held = self._held[size:]
            if end >= 0:
                break
        return bytes(found)

    @property
    def at_end(self) -> bool:
        return not self._held and not self._refill()

    def rest(self) -> Iterator[bytes]:
        """Everything that is left, in pieces."""
        if self._held:
            yield bytes(self._held)
            self._held = memoryview(b"")
        yield from self._parts

    def peek(self, size: int) -> bytes:
        """The next `size` bytes without taking them; fewer only at the end."""
        found = bytes(self.take(size))
        self._held = memoryview(found + bytes(self._held))
        return found

    def _refill(self) -> bool:
        for part in self._parts:
            if part:
                self._held = memoryview(part)
                return True
        return False
