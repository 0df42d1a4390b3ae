"""Bech32, by the examples of its specification (BIP 173)."""

import pytest

from stockman.crypto.bech32 import bech32


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
    assert bech32(prefix, bytes.fromhex(data)) == text


def test_bits_that_do_not_fill_a_character_are_filled_with_zeros() -> None:
    assert bech32("age", b"\xff").startswith("age1lu")
