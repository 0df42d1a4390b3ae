"""Sizes of disks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import (
    GIB,
    KIB,
    MIB,
    TIB,
    content_bytes,
    format_size,
    new_disk_bytes,
    new_mount_bytes,
    parse_size,
    resized,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512", 512),
        ("528K", 528 * KIB),
        ("4M", 4 * MIB),
        ("32G", 32 * GIB),
        ("1T", TIB),
        ("32GiB", 32 * GIB),
        ("1.5G", 1536 * MIB),
        ("0.1K", 102),
    ],
)
def test_a_size_is_a_number_and_a_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "1P", "1iB", "-1G", "+1G", "1.G", " 1G", "9" * 5000])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="value does not look like a valid disk size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (32 * GIB, "32G"),
        (1024 * GIB, "1T"),
        (528 * KIB, "528K"),
        (4 * MIB, "4M"),
        (1000, "1000"),
        (1536 * MIB, "1536M"),
    ],
)
def test_the_largest_exact_unit_is_printed(size: int, text: str) -> None:
    assert format_size(size) == text


@given(st.integers(min_value=0, max_value=1 << 60))
def test_a_printed_size_is_the_same_size(size: int) -> None:
    assert parse_size(format_size(size)) == size


def test_new_disks_are_asked_for_in_gibibytes_and_rounded_up_to_whole_kibibytes() -> None:
    assert new_disk_bytes("32") == 32 * GIB
    assert new_disk_bytes("0.5") == 512 * MIB
    assert new_disk_bytes("0.1") == 104858 * KIB


def test_new_mounts_are_asked_for_in_gibibytes_and_rounded_down_to_whole_mebibytes() -> None:
    assert new_mount_bytes("8") == 8 * GIB
    assert new_mount_bytes("0.1") == 102 * MIB


def test_a_plus_grows_a_disk_and_anything_else_is_its_new_size() -> None:
    assert resized(10 * GIB, "+5G") == 15 * GIB
    assert resized(10 * GIB, "20G") == 20 * GIB
    assert resized(10 * GIB, "4096") == 4096


def test_a_volume_is_asked_for_in_kibibytes_or_with_a_unit() -> None:
    assert content_bytes("1024") == MIB
    assert content_bytes("3M") == 3 * MIB
    assert content_bytes("2G") == 2 * GIB
    with pytest.raises(FormatError, match="unable to parse size '2T'"):
        content_bytes("2T")
