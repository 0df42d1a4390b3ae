"""The domain name protocol, packet by packet."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.adapters.network import check_dns_answer
from stockman.ports.environment import NoAnswer


def answer(number: int, flags: int) -> bytes:
    return number.to_bytes(2) + flags.to_bytes(2) + bytes(8)


@pytest.mark.parametrize("flags", [0x8180, 0x8183])
def test_a_server_that_knows_or_knows_not_works(flags: int) -> None:
    check_dns_answer(answer(7, flags), 7)


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (b"", "too short"),
        (answer(8, 0x8180), "does not match the query"),
        (answer(7, 0x0100), "does not match the query"),
        (answer(7, 0x8182), "cannot resolve names"),
        (answer(7, 0x8185), "refuses the query"),
    ],
)
def test_what_shows_no_working_server_is_no_answer(packet: bytes, reason: str) -> None:
    with pytest.raises(NoAnswer, match=reason):
        check_dns_answer(packet, 7)


@given(st.binary(max_size=64), st.integers(0, 65535))
def test_any_bytes_are_judged(packet: bytes, number: int) -> None:
    with suppress(NoAnswer):
        check_dns_answer(packet, number)
