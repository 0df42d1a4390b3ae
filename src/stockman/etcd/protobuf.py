"""The subset of the wire format of Protocol Buffers that records of etcd and Kubernetes use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from stockman.etcd.errors import BrokenDatabase

Field: TypeAlias = tuple[int, int | bytes]
"""Number and value of a field; the value is a number, or the bytes of a text or message."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
_MASK = (1 << 64) - 1
_SMALL = tuple(bytes([number]) for number in range(0x80))


def varint(number: int) -> bytes:
    """Encode a number with seven bits per byte; negative numbers have 64 bits."""
    if 0 <= number < len(_SMALL):
        return _SMALL[number]
    number &= _MASK
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def number_field(field: int, number: int) -> bytes:
    """Encode a number field; empty for zero."""
    return varint(field << 3 | _VARINT) + varint(number) if number else b""


def bytes_field(field: int, content: bytes) -> bytes:
    """Encode a bytes field; empty for no bytes."""
    return varint(field << 3 | _BYTES) + varint(len(content)) + content if content else b""


def fields(message: bytes) -> Iterator[Field]:
    """Return the fields of a message in order; raises `BrokenDatabase`."""
    position, end = 0, len(message)
    while position < end:
        tag, position = read_varint(message, position)
        number, kind = tag >> 3, tag & 7
        if not number:
            raise BrokenDatabase("a message has a field without a number")
        if kind == _VARINT:
            value, position = read_varint(message, position)
            yield number, value
            continue
        if kind == _BYTES:
            length, position = read_varint(message, position)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise BrokenDatabase(f"a message has a field of kind {kind}")
        if position + length > end:
            raise BrokenDatabase("a message is cut")
        content = message[position : position + length]
        position += length
        yield number, content if kind == _BYTES else int.from_bytes(content, "little")


def read_varint(message: bytes, position: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    number = shift = 0
    for octet in message[position : position + _LONGEST_VARINT]:
        position += 1
        number |= (octet & 0x7F) << shift
        if octet < 0x80:
            return number & _MASK, position
        shift += 7
    raise BrokenDatabase("a message is cut within a number")


def to_signed(number: int) -> int:
    """Return a 64-bit number as a signed one."""
    return number - (1 << 64) if number >> 63 else number


def text(content: int | bytes) -> str:
    """Decode a text; raises `BrokenDatabase`."""
    if isinstance(content, int):
        raise BrokenDatabase("a message has a number where a text belongs")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise BrokenDatabase("a message has a text that is no UTF-8") from None
