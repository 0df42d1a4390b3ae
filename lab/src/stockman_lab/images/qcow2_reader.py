"""Reads qcow2 files, ours and anybody's: header, and any bytes of the disk."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from stockman_lab.images.facts import CorruptImage
from stockman_lab.images.qcow2 import MAGIC

_SHORT = struct.Struct(">4sIQIIQIIQQIIQ")
_LONG = struct.Struct(">QQQII")
_OFFSET = 0x00FFFFFFFFFFFE00
_COMPRESSED, _ZERO = 1 << 62, 1
_CORRUPT, _DATA_FILE, _OTHER_COMPRESSION, _EXTENDED = 1 << 1, 1 << 2, 1 << 3, 1 << 4
_KNOWN = 0b11111
_MOST_FIRST_TABLE = 32 << 20
_MOST_NAME = 1023
_LEAST_BITS, _MOST_BITS = 9, 21


@dataclass(frozen=True, slots=True)
class Header:
    """What the beginning of a file says."""

    virtual_size: int
    cluster_bits: int
    first_entries: int
    first_offset: int
    backing_file: str
    """Empty: none."""
    has_data_file: bool
    """Whether the content lies in another file."""
    is_readable: bool
    """Whether the content is neither encrypted nor compressed in a way that nobody here knows."""
    entry_size: int


def is_qcow2(content: bytes) -> bool:
    """Whether bytes claim to be a file of this kind."""
    return content.startswith(MAGIC)


def read_header(content: bytes) -> Header:
    """The header; refuses what QEMU would not open either."""
    if len(content) < _SHORT.size:
        raise CorruptImage("the qcow2 header is cut off")
    (_, version, backing_offset, backing_size, bits, size, crypt, entries, first, *_) = (
        _SHORT.unpack_from(content)
    )
    if version not in (2, 3):
        raise CorruptImage(f"qcow2 version {version} is not supported")
    if not _LEAST_BITS <= bits <= _MOST_BITS:
        raise CorruptImage(f"clusters of 2^{bits} bytes are not supported")
    features = _features(content) if version == 3 else 0
    entry_size = 16 if features & _EXTENDED else 8
    reach = (1 << bits) * ((1 << bits) // entry_size)
    if entries * 8 > _MOST_FIRST_TABLE or first % (1 << bits):
        raise CorruptImage("its first table is too large or lies askew")
    if entries < -(-size // reach) or first + entries * 8 > len(content):
        raise CorruptImage("its first table is too small or cut off")
    return Header(
        virtual_size=size,
        cluster_bits=bits,
        first_entries=entries,
        first_offset=first,
        backing_file=_backing_file(content, backing_offset, backing_size),
        has_data_file=bool(features & _DATA_FILE),
        is_readable=crypt == 0 and not features & (_DATA_FILE | _OTHER_COMPRESSION),
        entry_size=entry_size,
    )


def read_bytes(content: bytes, header: Header, start: int, length: int) -> bytes:
    """Bytes of the disk; those that lie in no cluster are zeros."""
    found = b""
    size = 1 << header.cluster_bits
    while len(found) < length:
        number, inside = divmod(start + len(found), size)
        part = min(size - inside, length - len(found))
        found += _cluster(content, header, number)[inside : inside + part].ljust(part, b"\x00")
    return found


def _features(content: bytes) -> int:
    if len(content) < _SHORT.size + _LONG.size:
        raise CorruptImage("the qcow2 header is cut off")
    incompatible, _, _, order, length = _LONG.unpack_from(content, _SHORT.size)
    if incompatible & ~_KNOWN:
        raise CorruptImage(f"it has features {incompatible & ~_KNOWN:#x} that nobody knows")
    if incompatible & _CORRUPT:
        raise CorruptImage("it is marked as corrupt")
    if order > 6 or length < _SHORT.size + _LONG.size:
        raise CorruptImage("its header has impossible sizes")
    return int(incompatible)


def _backing_file(content: bytes, offset: int, length: int) -> str:
    if not offset:
        return ""
    if length > _MOST_NAME or offset + length > len(content):
        raise CorruptImage("the name of its backing file is too long or cut off")
    return content[offset : offset + length].decode("utf-8", "replace") or "?"


def _cluster(content: bytes, header: Header, number: int) -> bytes:
    size = 1 << header.cluster_bits
    owner, entry = divmod(number, size // header.entry_size)
    if owner >= header.first_entries:
        return b""
    table = _entry(content, header.first_offset + owner * 8) & _OFFSET
    if not table:
        return b""
    word = _entry(content, table + entry * header.entry_size)
    if word & _COMPRESSED:
        return _inflate(content, word, header.cluster_bits)
    place = word & _OFFSET
    if not place or (word & _ZERO and header.entry_size == 8):
        return b""
    return _slice(content, place, size, may_be_short=True)


def _inflate(content: bytes, number: int, bits: int) -> bytes:
    split = 62 - (bits - 8)
    place = number & ((1 << split) - 1)
    sectors = (number >> split) & ((1 << (bits - 8)) - 1)
    packed = _slice(content, place, (sectors + 1) * 512 - place % 512, may_be_short=True)
    try:
        return zlib.decompressobj(-15).decompress(packed, 1 << bits)
    except zlib.error:
        raise CorruptImage("a compressed cluster cannot be unpacked") from None


def _entry(content: bytes, number: int) -> int:
    return int.from_bytes(_slice(content, number, 8), "big")


def _slice(content: bytes, number: int, length: int, *, may_be_short: bool = False) -> bytes:
    found = content[number : number + length]
    if not found or (len(found) < length and not may_be_short):
        raise CorruptImage(f"it ends at byte {len(content)}, in the middle")
    return found
