"""Packed images."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.images import zstandard
from stockman_lab.images.compression import Unpackable, packed, unpacked

PATH = "/var/lib/vz/template/iso/a.img.tmp_dwnl.4711"
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
    assert unpacked(packed(content, compression), compression, PATH, 1 << 20) == content


@pytest.mark.parametrize("compression", [*UNPACKERS, "xz"])
def test_packing_makes_zeros_small_and_gives_the_same_bytes(compression: str) -> None:
    content = b"start" + b"\x00" * (4 << 20)

    assert len(packed(content, compression)) < len(content) / 20
    assert packed(content, compression) == packed(content, compression)


@pytest.mark.parametrize("compression", UNPACKERS)
def test_pieces_that_follow_each_other_are_one_content(compression: str) -> None:
    both = packed(b"one ", compression) + packed(b"two", compression)

    assert unpacked(both, compression, PATH, 100) == b"one two"


@pytest.mark.parametrize(
    ("compression", "command"), [("gz", "zcat"), ("bz2", "bzcat -q"), ("zst", "zstd -q -d -c")]
)
@pytest.mark.parametrize("content", [b"no such thing", b"", None])
def test_what_is_damaged_is_refused_in_the_words_of_the_program(
    compression: str, command: str, content: bytes | None
) -> None:
    damaged = packed(b"abc" * 100, compression)[:-5] if content is None else content

    with pytest.raises(Unpackable) as refused:
        unpacked(damaged, compression, PATH, 1000)
    assert str(refused.value) == f"command '{command} {PATH}' failed: exit code 1"


@pytest.mark.parametrize("compression", UNPACKERS)
def test_more_than_there_is_room_for_is_refused(compression: str) -> None:
    with pytest.raises(Unpackable, match="exit code 1"):
        unpacked(packed(b"\x00" * 10_000_000, compression), compression, PATH, 1_000_000)


def test_a_program_that_is_missing_is_missed() -> None:
    with pytest.raises(Unpackable, match="No such file or directory") as refused:
        unpacked(b"", "lzo", PATH, 100)

    assert str(refused.value).startswith(f"command 'lzop -d -c {PATH}' failed: open3: exec of")


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
