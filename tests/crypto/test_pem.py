"""PEM blocks, written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.pem import NotPem, PemBlock, encode_pem, first_block


@given(st.binary(max_size=300))
def test_what_is_written_is_read_again(der: bytes) -> None:
    assert first_block(encode_pem("CERTIFICATE", der)) == PemBlock("CERTIFICATE", der)


def test_lines_are_as_long_as_go_and_openssl_make_them() -> None:
    first, *body, last, empty = encode_pem("PUBLIC KEY", bytes(100)).split("\n")

    assert first == "-----BEGIN PUBLIC KEY-----"
    assert [len(line) for line in body] == [64, 64, 8]
    assert (last, empty) == ("-----END PUBLIC KEY-----", "")


def test_the_first_of_several_blocks_counts_and_text_around_it_does_not() -> None:
    text = f"subject: x\r\n{encode_pem('CERTIFICATE', b'one')}\n{encode_pem('CERTIFICATE', b'two')}"

    assert first_block(text.replace("\n", "\r\n")).der == b"one"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no `-----BEGIN"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n", "no `-----BEGIN"),
        ("-----BEGIN A-----\nAAAA\n-----END B-----\n", "no `-----BEGIN"),
        ("-----BEGIN A-----\nAAA\n-----END A-----\n", "not base64"),
    ],
)
def test_what_is_no_block_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(NotPem, match=why):
        first_block(text)
