"""Public keys."""

import pytest

from stockman.crypto.age.identities import parse_recipient
from stockman.crypto.bech32 import encode_bech32
from stockman.model.errors import Refused
from tests.crypto.keys_at_hand import OWNER, QUANTUM


def test_both_kinds_are_told_apart() -> None:
    assert not parse_recipient(OWNER.recipient).is_post_quantum
    assert parse_recipient(QUANTUM.recipient).is_post_quantum


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ssh-ed25519 AAAA",
        "age1yubikey1qqqqqq",
        OWNER.recipient[:-1],
        OWNER.recipient.upper(),
        encode_bech32("age", bytes(31)),
        encode_bech32("age1pq", bytes(32)),
        encode_bech32("age1tag", bytes(33)),
    ],
)
def test_what_is_no_recipient_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"age\.recipient"):
        parse_recipient(text)


def test_a_private_key_in_the_place_of_a_public_one_is_not_shown() -> None:
    with pytest.raises(Refused) as caught:
        parse_recipient(OWNER.text.reveal())

    assert OWNER.text.reveal() not in str(caught.value.problem)
