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
    format_size,
    parse_size,
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


@given(st.integers(min_value=0, max_value=1 << 60))
def test_a_printed_size_is_the_same_size(size: int) -> None:
    assert parse_size(format_size(size)) == size
