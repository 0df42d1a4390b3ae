"""Partition tables of images."""

from __future__ import annotations

import struct
import zlib
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.images.partitions import LEAST_SIZE, SECTOR, boot_tables, is_bootable

EFI = UUID("c12a7328-f81f-11d2-ba4b-00a0c93ec93b")
sizes = st.integers(LEAST_SIZE // SECTOR, 1 << 30).map(lambda sectors: sectors * SECTOR)


def header(sector: bytes) -> tuple[int, ...]:
    """Checks a header by the specification; returns here, other, first, last, table, checksum."""
    signature, revision, size, checksum, _, here, other, first, last = struct.unpack_from(
        "<8sIIIIQQQQ", sector
    )
    table, count, length, entries = struct.unpack_from("<QIII", sector, 72)
    blanked = sector[:16] + b"\x00" * 4 + sector[20:size]
    assert (signature, revision, size) == (b"EFI PART", 0x00010000, 92)
    assert (count, length) == (128, 128)
    assert zlib.crc32(blanked) == checksum
    return here, other, first, last, table, entries


@given(sizes)
def test_both_copies_of_the_table_fit_the_specification(size: int) -> None:
    tables = boot_tables(size, b"name")

    (start, (backup_at, backup)) = tables[0], list(tables.items())[1]
    last = size // SECTOR - 1
    here, other, first, end, table, checksum = header(start[SECTOR : 2 * SECTOR])
    assert (here, other, first, end, table) == (1, last, 34, last - 33, 2)
    assert zlib.crc32(start[1024:]) == checksum
    here, other, _, _, table, checksum = header(backup[-SECTOR:])
    assert (here, other, table * SECTOR) == (last, 1, backup_at)
    assert backup_at + len(backup) == size
    assert backup[:-SECTOR] == start[1024:]


@given(sizes)
def test_partitions_lie_one_after_another_inside_of_the_disk(size: int) -> None:
    table = boot_tables(size, b"name")[0][1024:]

    entries = [table[at : at + 128] for at in range(0, len(table), 128)]
    used = [struct.unpack_from("<QQ", entry, 32) for entry in entries if entry.strip(b"\x00")]
    assert entries[0][:16] == EFI.bytes_le
    edges = [edge for start_and_end in used for edge in start_and_end]
    assert edges == sorted(edges)
    assert edges[0] >= 34
    assert edges[-1] <= size // SECTOR - 34


def test_the_old_table_protects_the_new_one() -> None:
    start = boot_tables(1 << 30, b"")[0]

    assert start[510:512] == b"\x55\xaa"
    assert start[450] == 0xEE
    assert struct.unpack_from("<II", start, 454) == (1, (1 << 30) // SECTOR - 1)


def test_a_disk_that_is_too_small_or_uneven_has_no_table() -> None:
    for size in (LEAST_SIZE - SECTOR, LEAST_SIZE + 1):
        with pytest.raises(ValueError, match="partition table"):
            boot_tables(size, b"")


def test_an_efi_partition_is_something_to_boot() -> None:
    start = boot_tables(1 << 30, b"")[0]

    assert is_bootable(start)
    assert is_bootable(b"\x00" * 440 + start[440:])


def test_boot_code_or_an_active_partition_is_something_to_boot() -> None:
    signature = b"\x55\xaa"

    assert is_bootable(b"\xeb\x63\x90".ljust(510, b"\x00") + signature)
    assert is_bootable((b"\x00" * 446 + b"\x80").ljust(510, b"\x00") + signature)


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\x00" * 17408,
        b"text " * 200,
        b"\x00" * 510 + b"\x55\xaa",
        (b"\x00" * 510 + b"\x55\xaaEFI PART").ljust(17408, b"\x00"),
    ],
)
def test_nothing_else_is(start: bytes) -> None:
    assert not is_bootable(start)
