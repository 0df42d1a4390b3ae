"""Bech32, by the examples of its specification (BIP 173)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.bech32 import decode_bech32, encode_bech32


@pytest.mark.parametrize(
    ("prefix", "data", "text"),
    [
        ("a", "", "a12uel5l"),
        (
            "abcdef",
            "00443214c74254b635cf84653a56d7c675be77df",
            "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
        ),
    ],
)
def test_the_examples_of_the_specification(prefix: str, data: str, text: str) -> None:
    assert encode_bech32(prefix, bytes.fromhex(data)) == text


def test_bits_that_do_not_fill_a_character_are_filled_with_zeros() -> None:
    assert encode_bech32("age", b"\xff").startswith("age1lu")


@given(st.binary(max_size=100))
def test_data_reads_back_in_both_cases(data: bytes) -> None:
    text = encode_bech32("age-secret-key-", data)

    assert decode_bech32(text) == ("age-secret-key-", data)
    assert decode_bech32(text.upper()) == ("age-secret-key-", data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "1a12uel5",
        "a12UEL5L",
        "a12uel5b",
        "a12uel5m",
        "12uel5l",
        "\u212a12uel5l",
        "age1lu" + encode_bech32("age", b"\xff")[6:-1],
    ],
)
def test_what_is_damaged_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"a wrong check sum|no form|a character|letters"
    ) as caught:
        decode_bech32(text)

    assert not text or text not in str(caught.value) or len(text) == 1
