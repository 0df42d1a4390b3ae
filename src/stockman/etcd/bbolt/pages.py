"""Pages of a bbolt file: their headers, their elements, and the two that describe the file."""

from __future__ import annotations

import struct
from typing import NamedTuple

from stockman.etcd.errors import BrokenDatabase

PAGE_SIZE = 4096
SMALLEST_PAGE = 512
LARGEST_PAGE = 1 << 16
LARGEST_KEY = 32_768
LARGEST_VALUE = (1 << 31) - 2

BRANCH = 0x01
LEAF = 0x02
META = 0x04
BUCKET = 0x01
"""The flag of a leaf element whose value says where a bucket is."""

HEADER = struct.Struct("<QHHI")
"""Number of the page, flags, count of elements, pages that continue it."""
ELEMENT_SIZE = 16
BRANCH_ELEMENT = struct.Struct("<IIQ")
"""Where its key is, how long that is, number of the child."""
BUCKET_VALUE = struct.Struct("<QQ")
"""Number of its first page, sequence. Page 0: the bucket follows in place."""
NO_FREELIST = (1 << 64) - 1

_MAGIC = 0xED0CDAED
_VERSION = 2
_META = struct.Struct("<IIIIQQQQQ")
_CHECKSUM = struct.Struct("<Q")
META_END = HEADER.size + _META.size + _CHECKSUM.size


class Meta(NamedTuple):
    """What a file says about itself."""

    page_size: int
    root: int
    high_water: int
    """First page that is not in use."""
    transaction: int


def meta_page(number: int, meta: Meta) -> bytes:
    """One of the first two pages."""
    fields = _META.pack(
        *(_MAGIC, _VERSION, meta.page_size, 0, meta.root, 0),
        *(NO_FREELIST, meta.high_water, meta.transaction),
    )
    page = HEADER.pack(number, META, 0, 0) + fields + _CHECKSUM.pack(_fnv(fields))
    return page.ljust(meta.page_size, b"\0")


def read_meta(page: bytes) -> Meta:
    """What such a page says; raises `BrokenDatabase`."""
    if len(page) < META_END:
        raise BrokenDatabase("it ends before its description does")
    fields = page[HEADER.size : HEADER.size + _META.size]
    magic, version, size, _, root, _, _, high_water, transaction = _META.unpack(fields)
    if magic != _MAGIC:
        raise BrokenDatabase("it is no bbolt file")
    if version != _VERSION:
        raise BrokenDatabase(f"its format has version {version}, not {_VERSION}")
    (checksum,) = _CHECKSUM.unpack_from(page, HEADER.size + _META.size)
    if checksum != _fnv(fields):
        raise BrokenDatabase("its description has a wrong check sum")
    if not SMALLEST_PAGE <= size <= LARGEST_PAGE or size & (size - 1):
        raise BrokenDatabase(f"a page has {size} bytes")
    return Meta(size, root, high_water, transaction)


def _fnv(data: bytes) -> int:
    """FNV-1a of 64 bits."""
    checksum = 0xCBF29CE484222325
    for octet in data:
        checksum = ((checksum ^ octet) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return checksum
