"""CRC-32C (Castagnoli), which etcd sums its content up with, at the speed of long integers.

A message is a polynomial with bits for coefficients, and its sum what is left of it modulo the
generator. The generator divides x^6777 + x^484 + x^100 + 1, so x^6777 may be replaced by three
lower terms; squared, the same holds for twice and four times those powers. Half of a long message
is thus moved onto the other half by three shifts, and so on, until less than a thousand bytes are
left.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

_GENERATOR = 0x82F63B78
_DEGREE = 6777
_TERMS = (484, 100, 0)
_BLOCK = 1 << 17
_ONES = 0xFFFFFFFF
_REGISTER = 4
"""Bytes of a sum."""


def crc32c(data: bytes) -> int:
    """The sum of some bytes."""
    checksum = Crc32c()
    checksum.update(data)
    return checksum.value


class Crc32c:
    """A sum that grows with every piece; small pieces are put together first."""

    __slots__ = ("_bits", "_folded", "_pending", "_size")

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0
        self._folded = 0
        self._bits = 0
        """How long the message is that everything before what is pending was folded to."""

    def update(self, piece: bytes) -> None:
        """Go on with more bytes."""
        self._pending.append(piece)
        self._size += len(piece)
        if self._size >= _BLOCK:
            self._fold()

    @property
    def value(self) -> int:
        """The sum so far."""
        pending = b"".join(self._pending)
        if not self._bits and len(pending) < _REGISTER:
            return _update(_ONES, pending) ^ _ONES
        message = self._append_to_folded(int.from_bytes(pending, "little"))
        message, bits = _fold_message(message, self._bits + 8 * len(pending))
        ahead = -bits % 8
        return _update(0, (message << ahead).to_bytes((bits + ahead) // 8, "little")) ^ _ONES

    def _append_to_folded(self, message: int) -> int:
        """What was folded before a message, or what every sum begins with."""
        return self._folded | message << self._bits if self._bits else message ^ _ONES

    def _fold(self) -> None:
        pending = b"".join(self._pending)
        behind = len(pending) - len(pending) % _BLOCK
        for begin in range(0, behind, _BLOCK):
            message = self._append_to_folded(
                int.from_bytes(pending[begin : begin + _BLOCK], "little")
            )
            self._folded, self._bits = _fold_message(message, self._bits + 8 * _BLOCK)
        self._pending = [pending[behind:]]
        self._size = len(pending) - behind


def _update(register: int, data: bytes) -> int:
    for octet in data:
        register = (register >> 8) ^ _TABLE[(register ^ octet) & 0xFF]
    return register


def _fold_message(message: int, bits: int) -> tuple[int, int]:
    """A short message with the same sum. The first bit is the lowest, and the highest power."""
    doubled = 0
    while _DEGREE << (doubled + 1) < bits:
        doubled += 1
    while bits > _DEGREE:
        degree = _DEGREE << doubled
        shifts = [degree - (term << doubled) for term in _TERMS]
        moved = min(bits - degree, shifts[0])
        first = message & _ones(moved)
        message >>= moved
        for shift in shifts:
            message ^= first << (shift - moved)
        bits -= moved
        if doubled and bits < 1.3 * degree:
            doubled -= 1
    return message, bits


@lru_cache(32)
def _ones(count: int) -> int:
    return (1 << count) - 1


def _table() -> Iterator[int]:
    for octet in range(256):
        for _ in range(8):
            octet = (octet >> 1) ^ (_GENERATOR if octet & 1 else 0)
        yield octet


_TABLE = tuple(_table())
