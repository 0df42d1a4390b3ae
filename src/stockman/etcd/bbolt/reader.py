"""The buckets of a bbolt file that may be cut, damaged or made to hurt.

Every page is visited once at most, entries are inside of their page and share no bytes, keys
ascend: what does not hold is a `BrokenDatabase`. Nothing goes on for ever or grows on the way.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from stockman.etcd.bbolt.pages import (
    BRANCH,
    BRANCH_ELEMENT,
    BUCKET,
    BUCKET_VALUE,
    ELEMENT_SIZE,
    HEADER,
    LEAF,
    META_END,
    SMALLEST_PAGE,
    Meta,
    read_meta,
)
from stockman.etcd.errors import BrokenDatabase

Content: TypeAlias = bytes | mmap.mmap
"""A whole file, in memory or mapped into it."""
Pairs: TypeAlias = Iterator[tuple[bytes, bytes]]

_PLACES_OF_SECOND_META = tuple(SMALLEST_PAGE << power for power in range(8))
_ELEMENT_FIELDS = 4


class BoltReader:
    """The newest state of a bbolt file."""

    def __init__(self, content: Content, size: int | None = None) -> None:
        """Look at a file, or at so many of its bytes; raises `BrokenDatabase`."""
        self._content = content
        self.meta = _newest_meta(content)
        self.size = self.meta.high_water * self.meta.page_size
        """Bytes of all pages in use; a file may be longer."""
        held = len(content) if size is None else size
        if self.size > held:
            raise BrokenDatabase(f"it has {held} bytes and says that it has {self.size}")
        if not 2 <= self.meta.root < self.meta.high_water:
            raise BrokenDatabase(f"its first bucket is at page {self.meta.root}")

    def buckets(self) -> Iterator[tuple[bytes, Pairs]]:
        """Names of buckets, ascending, with what is in each; take one up before the next."""
        seen: set[int] = set()
        for name, flags, value in self._walk(self.meta.root, seen):
            if flags != BUCKET:
                raise BrokenDatabase("an entry stands outside of every bucket")
            yield name, self._bucket(value, seen)

    def _bucket(self, value: bytes, seen: set[int]) -> Pairs:
        if len(value) < BUCKET_VALUE.size:
            raise BrokenDatabase("a bucket does not say where it is")
        root, _ = BUCKET_VALUE.unpack_from(value)
        entries = self._walk(root, seen) if root else _inline(value[BUCKET_VALUE.size :])
        for key, flags, content in entries:
            if flags:
                raise BrokenDatabase("a bucket stands inside of another")
            yield key, content

    def _walk(self, root: int, seen: set[int]) -> Iterator[tuple[bytes, int, bytes]]:
        """Keys, flags and values below a page, in order."""
        waiting = [_Branch(root, b"", None)]
        last = b""
        while waiting:
            branch = waiting.pop()
            kind, page = self._page(branch.number, seen)
            if kind == BRANCH:
                waiting += reversed(_children(page, branch))
                continue
            for key, flags, value in _leaf(page):
                if (
                    not key > last
                    or key < branch.low
                    or not (branch.high is None or key < branch.high)
                ):
                    raise BrokenDatabase(f"keys of page {branch.number} are out of order")
                yield key, flags, value
                last = key

    def _page(self, number: int, seen: set[int]) -> tuple[int, bytes]:
        """Kind and bytes of a page and of those that continue it."""
        size, high_water = self.meta.page_size, self.meta.high_water
        if not 2 <= number < high_water:
            raise BrokenDatabase(f"page {number} is outside of the file")
        header = self._content[number * size : number * size + HEADER.size]
        own, kind, _, overflow = HEADER.unpack(header)
        if own != number:
            raise BrokenDatabase(f"page {number} says that it is page {own}")
        if kind not in (BRANCH, LEAF):
            raise BrokenDatabase(f"page {number} is of kind {kind:#x}, neither branch nor leaf")
        behind = number + 1 + overflow
        if behind > high_water:
            raise BrokenDatabase(f"page {number} goes on behind the end")
        pages = range(number, behind)
        if not seen.isdisjoint(pages):
            raise BrokenDatabase(f"page {number} is used twice")
        seen.update(pages)
        return kind, self._content[number * size : behind * size]


class _Branch(NamedTuple):
    """A page to visit, and between which keys its own have to be."""

    number: int
    low: bytes
    high: bytes | None


def _newest_meta(content: Content) -> Meta:
    """The valid description of the later transaction; one of the two may be damaged."""
    metas: list[Meta] = []
    try:
        first = read_meta(content[:META_END])
        metas.append(first)
        positions: tuple[int, ...] = (first.page_size,)
    except BrokenDatabase as error:
        broken, positions = error, _PLACES_OF_SECOND_META
    for position in positions:
        try:
            second = read_meta(content[position : position + META_END])
        except BrokenDatabase:
            continue
        if second.page_size == position:
            metas.append(second)
            break
    if not metas:
        raise broken
    return max(metas, key=lambda meta: meta.transaction)


def _children(page: bytes, above: _Branch) -> list[_Branch]:
    _, _, count, _ = HEADER.unpack_from(page)
    if not count:
        raise BrokenDatabase(f"page {above.number} has no children")
    if HEADER.size + count * ELEMENT_SIZE > len(page):
        raise BrokenDatabase(f"page {above.number} has more children than it can hold")
    keys, numbers = [], []
    for begin in range(HEADER.size, HEADER.size + count * ELEMENT_SIZE, ELEMENT_SIZE):
        offset, length, child = BRANCH_ELEMENT.unpack_from(page, begin)
        keys.append(_slice(page, begin + offset, length))
        numbers.append(child)
    if keys[0] < above.low:
        raise BrokenDatabase(f"keys of page {above.number} are out of order")
    ends = [*keys[1:], above.high]
    return [_Branch(*fields) for fields in zip(numbers, keys, ends, strict=True)]


def _leaf(page: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    _, _, count, _ = HEADER.unpack_from(page)
    if HEADER.size + count * ELEMENT_SIZE > len(page):
        raise BrokenDatabase("a page has more entries than it can hold")
    fields = struct.unpack_from(f"<{_ELEMENT_FIELDS * count}I", page, HEADER.size)
    begin, end = HEADER.size, len(page)
    left = end - HEADER.size - count * ELEMENT_SIZE
    for flags, offset, key_size, value_size in zip(*[iter(fields)] * _ELEMENT_FIELDS, strict=True):
        key = begin + offset
        value = key + key_size
        behind = value + value_size
        left -= key_size + value_size
        if behind > end or left < 0 or not key_size:
            raise BrokenDatabase("an entry has no key or ends behind its page")
        yield page[key:value], flags, page[value:behind]
        begin += ELEMENT_SIZE


def _inline(page: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    if len(page) < HEADER.size:
        raise BrokenDatabase("a bucket in place is cut")
    _, kind, _, _ = HEADER.unpack_from(page)
    if kind != LEAF:
        raise BrokenDatabase(f"a bucket in place is of kind {kind:#x}")
    last = b""
    for key, flags, value in _leaf(page):
        if not key > last:
            raise BrokenDatabase("keys of a bucket in place are out of order")
        yield key, flags, value
        last = key


def _slice(page: bytes, begin: int, length: int) -> bytes:
    if begin + length > len(page):
        raise BrokenDatabase("a key ends behind its page")
    return page[begin : begin + length]
