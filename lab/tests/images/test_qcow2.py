"""qcow2 files, written and read."""

from __future__ import annotations

import struct
import zlib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stockman_lab.images.facts import CorruptImage
from stockman_lab.images.qcow2 import CLUSTER, CLUSTER_BITS, MOST_SIZE, qcow2_file
from stockman_lab.images.qcow2_reader import is_qcow2, read_bytes, read_header

OFFSET = 0x00FFFFFFFFFFFE00
GIB = 1 << 30
disks = st.integers(1, 1 << 44).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.dictionaries(st.integers(0, size - 1), st.binary(min_size=1, max_size=40), max_size=6),
    )
)


def within(size: int, pieces: dict[int, bytes]) -> dict[int, bytes]:
    return {at: piece for at, piece in pieces.items() if at + len(piece) <= size}


def numbers(content: bytes, number: int, count: int) -> tuple[int, ...]:
    return struct.unpack_from(f">{count}Q", content, number)


@settings(max_examples=40)
@given(disks)
def test_what_is_written_is_read(disk: tuple[int, dict[int, bytes]]) -> None:
    size, pieces = disk[0], within(*disk)
    flat: dict[int, int] = {}
    for at, piece in pieces.items():
        flat |= {at + index: byte for index, byte in enumerate(piece)}

    content = qcow2_file(size, pieces)

    header = read_header(content)
    assert is_qcow2(content)
    assert header.virtual_size == size
    for at, piece in pieces.items():
        expected = bytes(flat[at + index] for index in range(len(piece)))
        assert read_bytes(content, header, at, len(piece)) == expected


@settings(max_examples=40)
@given(disks)
def test_every_cluster_is_counted_once_and_used_once(disk: tuple[int, dict[int, bytes]]) -> None:
    content = qcow2_file(disk[0], within(*disk))

    first_entries, first, table, table_clusters = struct.unpack_from(">IQQI", content, 36)
    used = Counter({0: 1})
    used.update(table // CLUSTER + number for number in range(table_clusters))
    blocks = [number for number in numbers(content, table, table_clusters * CLUSTER // 8) if number]
    used.update(block // CLUSTER for block in blocks)
    used.update(
        first // CLUSTER + number for number in range(max(1, -(-first_entries * 8 // CLUSTER)))
    )
    for entry in numbers(content, first, first_entries):
        if entry:
            assert entry >> 63 == 1
            used[(entry & OFFSET) // CLUSTER] += 1
            seconds = numbers(content, entry & OFFSET, CLUSTER // 8)
            used.update((second & OFFSET) // CLUSTER for second in seconds if second)
    counts = [
        count
        for block in blocks
        for count in struct.unpack_from(f">{CLUSTER // 2}H", content, block)
    ]
    assert len(content) % CLUSTER == 0
    assert counts[: len(content) // CLUSTER] == [1] * (len(content) // CLUSTER)
    assert not any(counts[len(content) // CLUSTER :])
    assert used == Counter(range(len(content) // CLUSTER))


def test_a_large_disk_is_a_small_file() -> None:
    assert len(qcow2_file(10 * GIB, {0: b"x", 10 * GIB - 1: b"y"})) < 200 << 10


def test_a_disk_has_a_largest_size_and_pieces_lie_inside_of_it() -> None:
    for size in (0, MOST_SIZE + 1):
        with pytest.raises(ValueError, match="no place"):
            qcow2_file(size, {})
    for place in (-1, 9):
        with pytest.raises(ValueError, match="outside"):
            qcow2_file(10, {place: b"xx"})


def changed(content: bytes, form: str, number: int, value: int) -> bytes:
    raw = bytearray(content)
    struct.pack_into(form, raw, number, value)
    return bytes(raw)


@pytest.mark.parametrize(
    ("form", "number", "value", "why"),
    [
        (">I", 4, 1, "version 1"),
        (">I", 20, 8, "2\\^8"),
        (">I", 20, 22, "2\\^22"),
        (">I", 36, 5 << 20, "too large"),
        (">Q", 40, 513, "askew"),
        (">I", 36, 0, "too small"),
        (">Q", 40, 1 << 40, "cut off"),
        (">Q", 24, 1 << 50, "too small"),
        (">Q", 72, 1 << 1, "marked as corrupt"),
        (">Q", 72, 1 << 40, "nobody knows"),
        (">I", 96, 7, "impossible"),
        (">I", 100, 0, "impossible"),
    ],
)
def test_a_header_that_cannot_be_is_refused(form: str, number: int, value: int, why: str) -> None:
    content = changed(qcow2_file(GIB, {0: b"x"}), form, number, value)

    with pytest.raises(CorruptImage, match=why):
        read_header(content)


@pytest.mark.parametrize("length", [4, 71, 103])
def test_a_header_that_is_cut_off_is_refused(length: int) -> None:
    with pytest.raises(CorruptImage, match="cut off"):
        read_header(qcow2_file(GIB, {})[:length])


def test_a_file_that_ends_in_the_middle_is_refused() -> None:
    content = qcow2_file(GIB, {0: b"x"})[: -CLUSTER - 1]

    with pytest.raises(CorruptImage, match="in the middle"):
        read_bytes(content, read_header(content), 0, 1)


def test_backing_files_and_data_files_are_seen() -> None:
    plain = qcow2_file(GIB, {})
    backed = bytearray(changed(changed(plain, ">Q", 8, 512), ">I", 16, 9))
    backed[512:521] = b"/etc/host"

    assert read_header(bytes(backed)).backing_file == "/etc/host"
    assert read_header(changed(plain, ">Q", 72, 1 << 2)).has_data_file
    assert not read_header(changed(plain, ">Q", 72, 1 << 2)).is_readable
    assert not read_header(changed(plain, ">I", 32, 2)).is_readable
    with pytest.raises(CorruptImage, match="backing file"):
        read_header(changed(plain, ">Q", 8, 1 << 40))


def second_table(content: bytes) -> int:
    """Where the first second table lies."""
    (first,) = numbers(content, 40, 1)
    return numbers(content, first, 1)[0] & OFFSET


def test_compressed_clusters_are_unpacked() -> None:
    plain = qcow2_file(GIB, {0: b"x"})
    packer = zlib.compressobj(9, zlib.DEFLATED, -12)
    packed = packer.compress(b"deep down".ljust(CLUSTER, b"\x00")) + packer.flush()
    sectors = (len(packed) + 511) // 512 - 1
    word = 1 << 62 | sectors << (62 - (CLUSTER_BITS - 8)) | len(plain)
    content = changed(plain, ">Q", second_table(plain), word) + packed

    assert read_bytes(content, read_header(content), 0, 12) == b"deep down\x00\x00\x00"
    broken = content[: len(plain)] + b"\xff" * 20
    with pytest.raises(CorruptImage, match="compressed cluster"):
        read_bytes(broken, read_header(broken), 0, 1)


def test_a_cluster_that_is_marked_as_zeros_is_zeros() -> None:
    plain = qcow2_file(GIB, {0: b"x"})
    (number,) = numbers(plain, second_table(plain), 1)
    content = changed(plain, ">Q", second_table(plain), number | 1)

    assert read_bytes(plain, read_header(plain), 0, 1) == b"x"
    assert read_bytes(content, read_header(content), 0, 1) == b"\x00"


def test_version_2_is_read_too() -> None:
    content = changed(qcow2_file(GIB, {5: b"x"}), ">I", 4, 2)

    assert read_bytes(content, read_header(content), 5, 1) == b"x"
