"""Versions: one value, several spellings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.model.version import Version

numbers = st.integers(min_value=0, max_value=300)


def test_a_leading_v_makes_no_difference() -> None:
    assert Version.parse("v1.12.0") == Version.parse("1.12.0")
    assert hash(Version.parse("v1.12.0")) == hash(Version.parse("1.12.0"))


def test_each_consumer_prints_its_own_form() -> None:
    version = Version.parse("1.14.0-rc.1")

    assert (version.bare, version.tagged) == ("1.14.0-rc.1", "v1.14.0-rc.1")
    assert version.minor_text == "1.14"


def test_a_missing_patch_stays_missing_and_compares_as_zero() -> None:
    assert str(Version.parse("1.10")) == "1.10"
    assert Version.parse("1.10") == Version.parse("1.10.0")
    assert Version.parse("1.10") > Version.parse("1.9.9")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.9.9", "1.10.0"),
        ("1.14.0-rc.1", "1.14.0"),
        ("1.14.0-alpha.2", "1.14.0-beta.0"),
        ("1.14.0-rc.2", "1.14.0-rc.10"),
        ("1.14.0-1", "1.14.0-rc"),
    ],
)
def test_order_is_that_of_semantic_versions(older: str, newer: str) -> None:
    assert Version.parse(older) < Version.parse(newer)


@pytest.mark.parametrize("text", ["", "1", "v", "latest", "1.2.3.4", "01.2.3", "1.2.3 ", "1.x"])
def test_what_is_not_a_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        Version.parse(text)


@given(numbers, numbers, numbers)
def test_what_is_printed_can_be_read_again(major: int, minor: int, patch: int) -> None:
    version = Version(major, minor, patch)

    assert Version.parse(version.bare) == version == Version.parse(version.tagged)


def test_other_things_are_not_comparable() -> None:
    assert Version(1, 2) != "1.2"
    with pytest.raises(TypeError):
        _ = Version(1, 2) < "1.3"
