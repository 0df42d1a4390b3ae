"""CRC-32C, by its known sums and by a slow way to the same."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stockman.etcd.crc32c import Crc32c, crc32c


def bit_by_bit(data: bytes) -> int:
    register = 0xFFFFFFFF
    for octet in data:
        register ^= octet
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ],
)
def test_the_known_sums(data: bytes, expected: int) -> None:
    assert crc32c(data) == expected


@pytest.mark.parametrize("size", [3, 4, 847, 848, 849, 1_694, 1_695, 10_000, 50_000])
def test_folding_leaves_the_sum_as_it_is(size: int) -> None:
    data = bytes(number * number % 251 for number in range(size))

    assert crc32c(data) == bit_by_bit(data)


@given(st.lists(st.binary(max_size=3_000), max_size=8))
@example([b"a", b"", b"bc", b"defg"])
def test_pieces_have_the_sum_of_the_whole(pieces: list[bytes]) -> None:
    crc32c = Crc32c()
    for piece in pieces:
        crc32c.update(piece)

    assert crc32c.value == bit_by_bit(b"".join(pieces))


@pytest.mark.parametrize("size", [(1 << 17) - 1, 1 << 17, (1 << 17) + 5, 400_000])
def test_it_does_not_matter_where_blocks_begin(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    found = Crc32c()
    for begin in range(0, size, 7_001):
        found.update(data[begin : min(begin + 7_001, size)])
        assert found.value >= 0  # asking in between changes nothing

    assert found.value == crc32c(data[:size])
