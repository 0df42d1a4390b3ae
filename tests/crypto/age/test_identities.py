"""Key files, and the keys in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.age.identities import (
    AgeIdentity,
    age_key_pair,
    parse_identities,
    parse_recipient,
)
from stockman.model.errors import Refused
from tests.crypto.keys_at_hand import OWNER, QUANTUM


def key_file(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def test_a_file_may_hold_several_identities_comments_and_empty_lines() -> None:
    text = key_file("# mine", OWNER.text.reveal(), "", "# newer", QUANTUM.text.reveal())

    age_identities = parse_identities(text)

    assert [age_identity.recipient for age_identity in age_identities] == [
        OWNER.recipient,
        QUANTUM.recipient,
    ]
    assert [age_identity.is_post_quantum for age_identity in age_identities] == [False, True]


def test_line_ends_of_windows_are_read() -> None:
    text = key_file("# mine", OWNER.text.reveal()).replace("\n", "\r\n")

    assert parse_identities(text)[0].raw == OWNER.raw


@given(st.binary(min_size=32, max_size=32), st.booleans())
def test_the_text_of_an_identity_reads_back(raw: bytes, post_quantum: bool) -> None:
    identity = AgeIdentity(raw, post_quantum=post_quantum)

    (read,) = parse_identities(identity.text.reveal())

    assert (read.raw, read.is_post_quantum) == (raw, post_quantum)


def test_new_post_quantum_identities_have_their_own_form() -> None:
    made = age_key_pair(bytes(range(32)), post_quantum=True)

    assert made.recipient.startswith("age1pq1")
    assert len(made.recipient) == 1959
    assert made.identity.reveal().startswith("AGE-SECRET-KEY-PQ-1")
    assert parse_recipient(made.recipient).is_post_quantum


@pytest.mark.parametrize(
    "line",
    [
        "AGE-SECRET-KEY-1",
        "AGE-PLUGIN-YUBIKEY-1QQQ",
        "age1something",
        OWNER.text.reveal()[:-1],
        OWNER.text.reveal()[:-1] + "Q",
        OWNER.text.reveal()[:-4] + "qqqq",
        OWNER.text.reveal() + " ",
    ],
)
def test_a_broken_line_is_named_by_its_number_and_never_shown(line: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_identities(key_file("# first", line), "age.key")

    assert caught.value.problem.code == "age.identity"
    assert caught.value.problem.where == "age.key:2"
    assert line not in str(caught.value.problem)


def test_a_file_without_identities_is_refused() -> None:
    with pytest.raises(Refused, match=r"age\.identity"):
        parse_identities("# nothing\n")


def test_identities_do_not_print_themselves() -> None:
    assert repr(OWNER) == "Identity(***)"
    assert f"{OWNER} {[OWNER]}" == "Identity(***) [Identity(***)]"
