"""What is worth looking for."""

import pytest

from stockman.app.secrets_check.scanner import KnownSecret, build_needles, is_searchable
from stockman.model.secret import Secret

RANDOM = "q7Zr2xVw9LmT4cYb"


def known(value: str, *, guessed: bool = False) -> KnownSecret:
    return KnownSecret(name="wool", value=Secret(value), guessed=guessed)


@pytest.mark.parametrize("value", ["a", "true", "1234567", "aaaaaaaaaaaa", "admin", "", "password"])
def test_short_and_plain_values_are_not_looked_for(value: str) -> None:
    assert not is_searchable(known(value))


@pytest.mark.parametrize("value", [RANDOM, "correct horse battery", "hunter2!Meadow", "x" + RANDOM])
def test_values_that_say_something_are_looked_for(value: str) -> None:
    assert is_searchable(known(value))


@pytest.mark.parametrize(
    "value",
    [
        "internal.example.com",
        "https://wiki.example.com:8443/wool/and/sheep",
        "10.42.128.0/17",
        "shepherd@example.com",
        "kubernetes/apps/default",
        "a-name-of-many-words-in-a-row",
        "2026-11-15T12:00:00Z",
        "age1" + "q" * 20 + "zry9x8gf2tvdw0s3jn54khce6mua7l",
    ],
)
def test_values_of_encrypted_files_that_may_stand_elsewhere_are_not_looked_for(value: str) -> None:
    assert not is_searchable(known(value, guessed=True))


@pytest.mark.parametrize("value", [RANDOM, "d9428888-122b-11e1-b85c-61cd3cbb3210"])
def test_random_values_of_encrypted_files_are_looked_for(value: str) -> None:
    assert is_searchable(known(value, guessed=True))


def test_the_first_secret_gives_a_value_its_name() -> None:
    needles = build_needles(
        [known(RANDOM), KnownSecret(name="another", value=Secret(RANDOM), guessed=True)]
    )

    assert {needle.name for needle in needles} == {"wool"}
    assert len({needle.text for needle in needles}) == len(needles)
