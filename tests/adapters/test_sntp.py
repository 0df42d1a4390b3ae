"""The simple network time protocol, packet by packet."""

from contextlib import suppress
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.adapters import sntp
from stockman.ports.environment import NoAnswer

COOKIE = 0x1234567890ABCDEF
SECOND = 1_000_000_000
UNIX_EPOCH = 2_208_988_800


def answer(
    at: float = 0.0, *, flags: int = 0b00_100_100, stratum: int = 1, cookie: int = COOKIE
) -> bytes:
    """What a server answers whose clock shows so many seconds of Unix time."""
    ticks = int((at + UNIX_EPOCH) * 2**32) % 2**64
    return pack("!BB22xQQQ", flags, stratum, cookie, ticks, ticks)


def test_a_question_is_one_of_a_client_and_carries_the_cookie() -> None:
    packet = sntp.build_query(COOKIE)

    assert len(packet) == 48
    assert packet[0] == 0x23
    assert packet[40:] == COOKIE.to_bytes(8)
    assert not any(packet[1:40])


def test_the_way_there_and_back_does_not_count() -> None:
    seen = sntp.read_offset(answer(1000.5), COOKIE, 900 * SECOND, 901 * SECOND)

    assert seen == pytest.approx(100.0, abs=1e-6)


@given(st.integers(0, 2**33), st.integers(-(2**30), 2**30))
def test_any_time_of_ours_is_compared_rightly_also_after_2036(ours: int, ahead: int) -> None:
    seen = sntp.read_offset(answer(ours + ahead), COOKIE, ours * SECOND, ours * SECOND)

    assert seen == pytest.approx(ahead, abs=1e-3)


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (b"", "too short"),
        (answer()[:47], "too short"),
        (answer(cookie=1), "does not match the query"),
        (answer(flags=0x23), "does not match the query"),
        (answer(stratum=0), "refuses"),
        (answer(stratum=16), "not synchronized"),
        (answer(flags=0b11_100_100), "not synchronized"),
        (answer(-UNIX_EPOCH), "not synchronized"),
    ],
)
def test_what_is_no_time_is_no_answer(packet: bytes, reason: str) -> None:
    with pytest.raises(NoAnswer, match=reason):
        sntp.read_offset(packet, COOKIE, SECOND, SECOND)


@given(st.binary(max_size=80))
def test_any_bytes_are_a_number_or_no_answer(packet: bytes) -> None:
    with suppress(NoAnswer):
        sntp.read_offset(packet, COOKIE, SECOND, SECOND)
