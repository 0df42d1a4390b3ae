"""The reader of bbolt files, on good ones and on those that are not."""

from __future__ import annotations

import mmap
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stockman.etcd.bbolt.pages import (
    BRANCH,
    BRANCH_ELEMENT,
    BUCKET_VALUE,
    ELEMENT_SIZE,
    HEADER,
    PAGE_SIZE,
    Meta,
    meta_page,
)
from stockman.etcd.bbolt.reader import BoltReader, Content
from stockman.etcd.errors import BrokenDatabase
from tests.etcd.files import file_around, file_of, many, page

GOOD = file_of(key=many(800, 300), meta={b"a": b"b"}, other={})


def read(content: Content) -> dict[bytes, dict[bytes, bytes]]:
    return {name: dict(pairs) for name, pairs in BoltReader(content).buckets()}


def element(flags: int, place: int, key: int, value: int) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in (flags, place, key, value))


def bucket_at(root: int, name: bytes = b"key") -> bytes:
    """A page of names with one bucket in it."""
    return page(
        2, element(1, ELEMENT_SIZE, len(name), 16) + name + BUCKET_VALUE.pack(root, 0), count=1
    )


def test_a_file_may_be_mapped_instead_of_read(tmp_path: Path) -> None:
    (tmp_path / "db").write_bytes(GOOD)

    with (
        (tmp_path / "db").open("rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as all_of_it,
    ):
        assert read(all_of_it) == read(GOOD)


def test_a_file_may_be_longer_than_its_pages() -> None:
    assert read(GOOD + bytes(5 * PAGE_SIZE)) == read(GOOD)


@pytest.mark.parametrize("broken", [0, 1])
def test_one_of_two_descriptions_may_be_damaged(broken: int) -> None:
    place = broken * PAGE_SIZE + 30
    content = GOOD[:place] + b"!" + GOOD[place + 1 :]

    assert read(content) == read(GOOD)


def test_the_description_of_the_later_transaction_counts() -> None:
    old = Meta(PAGE_SIZE, 2, 3, 7)
    new = Meta(PAGE_SIZE, 3, 4, 8)
    pages = page(2, b"", count=0) + page(
        3, element(1, 16, 1, 32) + b"a" + bytes(16) + page(0, b"", count=0)[:16], count=1
    )

    assert read(meta_page(0, old) + meta_page(1, new) + pages) == {b"a": {}}
    assert read(meta_page(0, new) + meta_page(1, old) + pages) == {b"a": {}}


BROKEN = {
    "nothing": b"",
    "zeros": bytes(10 * PAGE_SIZE),
    "cut": GOOD[: len(GOOD) - PAGE_SIZE],
    "cut-within-description": GOOD[:70],
    "root-outside": file_around(page(2, b"", count=0), root=9),
    "root-is-a-description": file_around(page(2, b"", count=0), root=1),
    "wrong-number": file_around(page(3, b"", count=0)),
    "wrong-kind": file_around(page(2, b"", count=0, kind=0x10)),
    "behind-the-end": file_around(page(2, b"", count=0, overflow=3)[:PAGE_SIZE]),
    "too-many-entries": file_around(page(2, b"", count=300)),
    "entry-behind-page": file_around(page(2, element(1, 5_000, 3, 16), count=1)),
    "entry-without-key": file_around(page(2, element(1, 16, 0, 16), count=1)),
    "entry-outside-of-buckets": file_around(page(2, element(0, 16, 1, 1) + b"ab", count=1)),
    "bucket-without-place": file_around(page(2, element(1, 16, 1, 1) + b"ab", count=1)),
    "bucket-is-its-parent": file_around(bucket_at(2)),
    "bucket-in-place-cut": file_around(page(2, element(1, 16, 1, 17) + b"a" + bytes(17), count=1)),
    "bucket-in-place-of-another-kind": file_around(
        page(2, element(1, 16, 1, 32) + b"a" + bytes(32), count=1)
    ),
    "bucket-in-bucket": file_around(
        bucket_at(3), page(3, element(1, 16, 1, 16) + b"a" + bytes(16), count=1)
    ),
    "keys-descend": file_around(
        bucket_at(3), page(3, element(0, 32, 1, 0) + element(0, 17, 1, 0) + b"ba", count=2)
    ),
    "no-children": file_around(bucket_at(3), page(3, b"", count=0, kind=BRANCH)),
    "too-many-children": file_around(bucket_at(3), page(3, b"", count=999, kind=BRANCH)),
    "child-key-behind-page": file_around(
        bucket_at(3), page(3, BRANCH_ELEMENT.pack(16, 9_999, 4), count=1, kind=BRANCH)
    ),
    "child-is-its-parent": file_around(
        bucket_at(3), page(3, BRANCH_ELEMENT.pack(16, 1, 3) + b"a", count=1, kind=BRANCH)
    ),
    "child-below-its-branch": file_around(
        bucket_at(3),
        page(3, BRANCH_ELEMENT.pack(16, 1, 4) + b"m", count=1, kind=BRANCH),
        page(4, element(0, 16, 1, 0) + b"a", count=1),
    ),
    "entries-share-bytes": file_around(
        bucket_at(3),
        page(
            3,
            b"".join(element(0, (60 - n) * 16 + n, 1, 2_900) for n in range(60)) + bytes(range(60)),
            count=60,
        ),
    ),
}  # fmt: skip


WHY = {
    "nothing": "ends before its description",
    "zeros": "no bbolt file",
    "cut": "says that it has",
    "cut-within-description": "ends before its description",
    "root-outside": "first bucket is at page 9",
    "root-is-a-description": "first bucket is at page 1",
    "wrong-number": "says that it is page 3",
    "wrong-kind": "neither branch nor leaf",
    "behind-the-end": "goes on behind the end",
    "too-many-entries": "more entries than it can hold",
    "entry-behind-page": "ends behind its page",
    "entry-without-key": "no key",
    "entry-outside-of-buckets": "outside of every bucket",
    "bucket-without-place": "does not say where",
    "bucket-is-its-parent": "used twice",
    "bucket-in-place-cut": "in place is cut",
    "bucket-in-place-of-another-kind": "in place is of kind",
    "bucket-in-bucket": "inside of another",
    "keys-descend": "page 3 are out of order",
    "no-children": "no children",
    "too-many-children": "more children than",
    "child-key-behind-page": "key ends behind its page",
    "child-is-its-parent": "used twice",
    "child-below-its-branch": "page 4 are out of order",
    "entries-share-bytes": "ends behind its page",
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_said_to_be(name: str) -> None:
    with pytest.raises(BrokenDatabase, match=WHY[name]):
        read(BROKEN[name])


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.integers(0, 8 * PAGE_SIZE), st.binary(min_size=1, max_size=8)), max_size=6
    ),
    st.integers(0, len(GOOD)),
)
def test_damage_is_noticed_or_harmless(damages: list[tuple[int, bytes]], end: int) -> None:
    content = bytearray(GOOD)
    for place, damage in damages:
        content[place : place + len(damage)] = damage
    try:
        found = read(bytes(content[:end] if end % 3 == 0 else content))
    except BrokenDatabase:
        return
    assert sum(len(one) for one in found.values()) <= len(GOOD) // HEADER.size


@given(st.binary(max_size=2_000))
def test_any_bytes_behind_good_descriptions_end_well(junk: bytes) -> None:
    content = file_around(junk.ljust(3 * PAGE_SIZE, b"\0"))
    with suppress(BrokenDatabase):
        assert all(read(content))
