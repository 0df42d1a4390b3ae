"""Age identities and their file."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.age.identities import IDENTITY_BYTES, age_key_pair, render_age_key_file

RAW = bytes(range(IDENTITY_BYTES))
NOON = datetime(2026, 8, 1, 12, 0, 0, 999, tzinfo=UTC)


@given(st.binary(min_size=IDENTITY_BYTES, max_size=IDENTITY_BYTES))
def test_both_halves_have_the_form_that_age_reads(raw: bytes) -> None:
    made = age_key_pair(raw)

    assert made.recipient.startswith("age1")
    assert len(made.recipient) == 62
    assert made.identity.reveal().startswith("AGE-SECRET-KEY-1")
    assert len(made.identity.reveal()) == 74
    assert made.identity.reveal().isupper()


def test_the_same_bytes_make_the_same_identity_and_others_another() -> None:
    assert age_key_pair(RAW) == age_key_pair(RAW)
    assert age_key_pair(RAW).recipient != age_key_pair(RAW[::-1]).recipient


def test_too_few_random_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="32"):
        age_key_pair(RAW[1:])


def test_the_file_has_the_lines_of_age_keygen() -> None:
    identity = age_key_pair(RAW)

    text = render_age_key_file(identity, NOON).reveal()

    assert text.split("\n") == [
        "# created: 2026-08-01T12:00:00Z",
        f"# public key: {identity.recipient}",
        identity.identity.reveal(),
        "",
    ]


def test_the_time_is_told_in_utc() -> None:
    east = NOON.astimezone(timezone(timedelta(hours=2)))

    assert render_age_key_file(age_key_pair(RAW), east) == render_age_key_file(
        age_key_pair(RAW), NOON
    )


def test_neither_the_identity_nor_the_file_prints_its_secret() -> None:
    identity = age_key_pair(RAW)
    shown = f"{identity} {identity!r} {render_age_key_file(identity, NOON)}"

    assert "AGE-SECRET" not in shown
