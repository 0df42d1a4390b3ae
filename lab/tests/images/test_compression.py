"""Packed images."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.images import zstandard
from stockman_lab.images.compression import packed, pieces

UNPACKERS = ["gz", "bz2", "zst"]
contents = st.one_of(
    st.binary(max_size=5000),
    st.tuples(st.binary(max_size=300), st.integers(0, 300_000)).map(
        lambda one: one[0] + b"\x00" * one[1] + one[0]
    ),
)


@pytest.mark.parametrize("compression", UNPACKERS)
@given(contents)
def test_what_is_packed_is_unpacked(compression: str, content: bytes) -> None:
    assert b"".join(pieces(packed(content, compression), compression)) == content or not content


@pytest.mark.parametrize("compression", [*UNPACKERS, "xz"])
def test_packing_makes_zeros_small_and_gives_the_same_bytes(compression: str) -> None:
    content = b"start" + b"\x00" * (4 << 20)

    assert len(packed(content, compression)) < len(content) / 20
    assert packed(content, compression) == packed(content, compression)


def frame(block_kind: int, size: int, held: bytes, flags: int = 0x20) -> bytes:
    head = (size << 3 | block_kind << 1 | 1).to_bytes(3, "little")
    return zstandard.MAGIC + bytes((flags, size % 256)) + head + held


def test_frames_of_others_are_read_as_far_as_they_are_not_compressed() -> None:
    assert b"".join(zstandard.unpacked(frame(0, 3, b"abc"))) == b"abc"
    assert b"".join(zstandard.unpacked(frame(1, 3, b"a"))) == b"aaa"
    assert b"".join(zstandard.unpacked(frame(0, 3, b"abc" + b"sums", flags=0x24))) == b"abc"


@pytest.mark.parametrize("damaged", [frame(3, 3, b"abc"), frame(0, 3, b"ab"), frame(0, 3, b"")[:8]])
def test_damaged_frames_are_refused(damaged: bytes) -> None:
    with pytest.raises(zstandard.DamagedFrame):
        list(zstandard.unpacked(damaged))


def test_a_compressed_block_needs_a_library() -> None:
    with pytest.raises(zstandard.NeedsLibrary):
        list(zstandard.unpacked(frame(2, 3, b"abc")))
