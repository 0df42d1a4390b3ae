"""A bbolt file piece by piece: sizes are planned first, so that nothing is written twice."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, repeat
from operator import add, lt

from stockman.etcd.bbolt.pages import (
    BRANCH,
    BRANCH_ELEMENT,
    BUCKET,
    BUCKET_VALUE,
    ELEMENT_SIZE,
    HEADER,
    LARGEST_KEY,
    LARGEST_VALUE,
    LEAF,
    PAGE_SIZE,
    Meta,
    meta_page,
)

_LEAF_SIZE = 16 * PAGE_SIZE
_INLINE_SIZE = PAGE_SIZE // 4
_FIRST_PAGE = 2
_FEWEST_CHILDREN = 2
_TRANSACTION = 2


@dataclass(frozen=True, slots=True)
class Entries:
    """A bucket: keys, ascending and each once, and the value of each."""

    keys: Sequence[bytes] = ()
    values: Sequence[bytes] = ()

    @classmethod
    def of(cls, content: Mapping[bytes, bytes]) -> Entries:
        """A bucket of a mapping in any order."""
        keys = sorted(content)
        return cls(keys, [content[key] for key in keys])


def database_pieces(buckets: Mapping[bytes, Entries]) -> Iterator[bytes]:
    """The pieces of a file with such buckets, in order; holds one piece at a time.

    Entries must not change until the last piece has been taken.
    """
    yield from _plan_pages(buckets).pieces()


def database_size(buckets: Mapping[bytes, Entries]) -> int:
    """How many bytes the file of such buckets has."""
    return _plan_pages(buckets).high_water * PAGE_SIZE


class _SizedEntries:
    """A bucket with the sizes of what is in it: looking at every entry once is slow enough."""

    __slots__ = ("flags", "key_sizes", "keys", "value_sizes", "values")

    def __init__(self, entries: Entries, flags: int = 0) -> None:
        self.flags = flags
        self.keys, self.values = entries.keys, entries.values
        self.key_sizes = list(map(len, self.keys))
        self.value_sizes = list(map(len, self.values))
        if len(self.keys) != len(self.values):
            raise ValueError(f"{len(self.keys)} keys have {len(self.values)} values")
        if not 0 < min(self.key_sizes, default=1) <= max(self.key_sizes, default=1) <= LARGEST_KEY:
            raise ValueError("a key is empty or too long")
        if max(self.value_sizes, default=0) > LARGEST_VALUE:
            raise ValueError("a value is too long")
        if not all(map(lt, self.keys, islice(self.keys, 1, None))):
            raise ValueError("keys do not ascend")

    def content(self, first: int, last: int) -> list[bytes]:
        """Elements of a page, then keys and values."""
        count = last - first
        offset = count * ELEMENT_SIZE
        flags = self.flags
        fields: list[int] = []
        sizes = zip(self.key_sizes[first:last], self.value_sizes[first:last], strict=True)
        for key, value in sizes:
            fields += (flags, offset, key, value)
            offset += key + value - ELEMENT_SIZE
        content = [b""] * (2 * count + 1)
        content[0] = struct.pack(f"<{4 * count}I", *fields)
        content[1::2] = self.keys[first:last]
        content[2::2] = self.values[first:last]
        return content


@dataclass(frozen=True, slots=True)
class _Span:
    """Elements of one page, from the first up to but not including the last."""

    first: int
    last: int
    size: int
    """Bytes, the header included."""

    @property
    def pages(self) -> int:
        return -(-self.size // PAGE_SIZE)


@dataclass(frozen=True, slots=True)
class _Tree:
    """Pages of a bucket that has pages of its own: leaves, then branches above them."""

    entries: _SizedEntries
    leaves: list[_Span]
    number: int
    """Of its first page."""
    branches: list[tuple[list[bytes], list[int], list[_Span]]] = field(default_factory=list)
    """By level: first keys and numbers of the pages below, and which of them share a page."""

    def grown(self) -> tuple[int, int]:
        """Number of the page on top, and of the first page behind; levels are added."""
        keys = [self.entries.keys[leaf.first] for leaf in self.leaves if leaf.last > leaf.first]
        numbers, number = _assign_page_numbers(self.leaves, self.number)
        while len(numbers) > 1:
            spans = _spans(map(len, keys), PAGE_SIZE, _FEWEST_CHILDREN)
            self.branches.append((keys, numbers, spans))
            keys = [keys[span.first] for span in spans]
            numbers, number = _assign_page_numbers(spans, number)
        return numbers[0], number

    def pieces(self) -> Iterator[bytes]:
        number = self.number
        for span in self.leaves:
            yield _leaf(number, self.entries, span)
            number += span.pages
        for keys, numbers, spans in self.branches:
            for span in spans:
                yield _branch(number, keys, numbers, span)
                number += span.pages


@dataclass(frozen=True, slots=True)
class _Plan:
    trees: list[_Tree]
    root: int
    high_water: int

    def pieces(self) -> Iterator[bytes]:
        for number in range(_FIRST_PAGE):
            described = Meta(PAGE_SIZE, self.root, self.high_water, _TRANSACTION - number)
            yield meta_page(number, described)
        for tree in self.trees:
            yield from tree.pieces()


def _plan_pages(buckets: Mapping[bytes, Entries]) -> _Plan:
    number = _FIRST_PAGE
    trees: list[_Tree] = []
    values: list[bytes] = []
    names = sorted(buckets)
    for name in names:
        entries = _SizedEntries(buckets[name])
        inline = _inline(entries)
        if inline is not None:
            values.append(inline)
            continue
        top, number = _add_tree(trees, entries, number)
        values.append(BUCKET_VALUE.pack(top, 0))
    root, number = _add_tree(trees, _SizedEntries(Entries(names, values), BUCKET), number)
    return _Plan(trees, root, number)


def _inline(entries: _SizedEntries) -> bytes | None:
    """A small bucket as it stands inside of the page that names it; None: it is too large."""
    count = len(entries.keys)
    size = HEADER.size + count * ELEMENT_SIZE + sum(entries.key_sizes) + sum(entries.value_sizes)
    if size > _INLINE_SIZE:
        return None
    content = [HEADER.pack(0, LEAF, count, 0), *entries.content(0, count)]
    return BUCKET_VALUE.pack(0, 0) + b"".join(content)


def _add_tree(trees: list[_Tree], entries: _SizedEntries, number: int) -> tuple[int, int]:
    sizes = map(add, entries.key_sizes, entries.value_sizes)
    tree = _Tree(entries, _spans(sizes, _LEAF_SIZE, 1), number)
    trees.append(tree)
    return tree.grown()


def _spans(sizes: Iterable[int], target: int, fewest: int) -> list[_Span]:
    """Elements with keys and values of such sizes shared out to pages: as many as fit."""
    ends = list(accumulate(map(add, sizes, repeat(ELEMENT_SIZE)), initial=HEADER.size))
    spans: list[_Span] = []
    first, count = 0, len(ends) - 1
    while first < count or not spans:
        before = ends[first] - HEADER.size
        last = bisect_right(ends, before + target) - 1
        last = min(max(last, first + fewest), count)
        spans.append(_Span(first, last, ends[last] - before))
        first = last
    return spans


def _assign_page_numbers(spans: list[_Span], number: int) -> tuple[list[int], int]:
    *numbers, behind = accumulate((span.pages for span in spans), initial=number)
    return numbers, behind


def _leaf(number: int, entries: _SizedEntries, span: _Span) -> bytes:
    header = HEADER.pack(number, LEAF, span.last - span.first, span.pages - 1)
    return _fill_page([header, *entries.content(span.first, span.last)], span)


def _branch(number: int, keys: list[bytes], numbers: list[int], span: _Span) -> bytes:
    count = span.last - span.first
    offset = count * ELEMENT_SIZE
    content = [HEADER.pack(number, BRANCH, count, span.pages - 1)]
    for key, child in zip(keys[span.first : span.last], numbers[span.first :], strict=False):
        content.append(BRANCH_ELEMENT.pack(offset, len(key), child))
        offset += len(key) - ELEMENT_SIZE
    return _fill_page([*content, *keys[span.first : span.last]], span)


def _fill_page(content: list[bytes], span: _Span) -> bytes:
    content.append(bytes(span.pages * PAGE_SIZE - span.size))
    return b"".join(content)
