"""The writer of bbolt files: pieces, sizes, and what cannot be written."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.etcd.bbolt.pages import BRANCH, HEADER, PAGE_SIZE
from stockman.etcd.bbolt.reader import BoltReader
from stockman.etcd.bbolt.writer import Entries, database_pieces, database_size
from tests.etcd.files import many

NAMES = st.binary(min_size=1, max_size=20)
SMALL = st.dictionaries(st.binary(min_size=1, max_size=40), st.binary(max_size=100), max_size=40)
LARGE = st.dictionaries(
    st.binary(min_size=1, max_size=3_000),
    st.integers(0, 70_000).map(lambda size: bytes([size % 256]) * size),
    max_size=30,
)


def read(content: bytes) -> dict[bytes, dict[bytes, bytes]]:
    return {name: dict(pairs) for name, pairs in BoltReader(content).buckets()}


@given(st.dictionaries(NAMES, SMALL | LARGE, max_size=6))
def test_what_was_written_is_read_back(buckets: dict[bytes, dict[bytes, bytes]]) -> None:
    named = {name: Entries.of(content) for name, content in buckets.items()}
    content = b"".join(database_pieces(named))

    assert len(content) == database_size(named)
    assert read(content) == buckets


@pytest.mark.parametrize(("count", "size"), [(1, 0), (60_000, 8), (300, 70_000), (5_000, 300)])
def test_buckets_of_any_size_are_read_back(count: int, size: int) -> None:
    content = many(count, size)

    assert read(b"".join(database_pieces({b"key": Entries.of(content)}))) == {b"key": content}


def test_long_keys_make_trees_of_several_levels() -> None:
    content = {b"%05d" % number * 800: b"" for number in range(600)}

    file = b"".join(database_pieces({b"key": Entries.of(content)}))

    kinds = [HEADER.unpack_from(file, place)[1] for place in range(0, len(file), PAGE_SIZE)]
    assert kinds.count(BRANCH) > 5
    assert read(file) == {b"key": content}


def test_a_small_bucket_has_no_page_of_its_own() -> None:
    assert database_size({b"meta": Entries.of({b"a": b"b"})}) == 3 * PAGE_SIZE


def test_a_file_is_written_without_being_held() -> None:
    value = bytes(2_000)
    keys = [b"%08d" % number for number in range(20_000)]
    buckets = {b"key": Entries(keys, [value] * len(keys))}
    tracemalloc.start()

    size = sum(map(len, database_pieces(buckets)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size > 40_000_000
    assert most < 4_000_000


@pytest.mark.parametrize(
    ("keys", "values", "why"),
    [
        ([b"b", b"a"], [b"", b""], "ascend"),
        ([b"a", b"a"], [b"", b""], "ascend"),
        ([b""], [b""], "empty"),
        ([b"a" * 32_769], [b""], "too long"),
        ([b"a"], [], "1 keys have 0 values"),
    ],
)
def test_what_bbolt_cannot_hold_is_not_written(
    keys: list[bytes], values: list[bytes], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        next(database_pieces({b"key": Entries(keys, values)}))
