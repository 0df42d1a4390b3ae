"""Plain text as values, by the rules of Go's YAML library."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.crypto.sops.scalars import (
    SopsValue,
    Timestamp,
    go_float,
    resolve_scalar,
    value_bytes,
    values_equal,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("true", True),
        ("TRUE", True),
        ("yes", "yes"),
        ("on", "on"),
        ("12", 12),
        ("+12", 12),
        ("-12", -12),
        ("1_000", 1000),
        ("0755", 493),
        ("0o755", 493),
        ("08", 8.0),
        ("0x1F", 31),
        ("-0b11", -3),
        ("9223372036854775807", 2**63 - 1),
        ("99999999999999999999", 1e20),
        ("1.50", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        ("-.INF", -math.inf),
        ("12:30:45", "12:30:45"),
        ("1.2.3", "1.2.3"),
        ("-", "-"),
        ("2001-01-02", Timestamp("2001-01-02T00:00:00Z")),
        ("2001-1-2 3:4:5.600", Timestamp("2001-01-02T03:04:05.6Z")),
        ("2001-12-14t21:59:43.10-05:00", Timestamp("2001-12-14T21:59:43.1-05:00")),
        ("2001-12-14T21:59:43", "2001-12-14T21:59:43"),
        ("2001-02-29", "2001-02-29"),
        ("2004-02-29", Timestamp("2004-02-29T00:00:00Z")),
    ],
)
def test_plain_text_is_resolved_as_go_does_it(text: str, value: SopsValue) -> None:
    assert values_equal(resolve_scalar(text), value)


def test_a_number_that_sops_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="63 bits"):
        resolve_scalar("18446744073709551615")


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (True, b"True"),
        (False, b"False"),
        (-5, b"-5"),
        (1.0, b"1"),
        (1e21, b"1000000000000000000000"),
        (1e-7, b"0.0000001"),
        (math.inf, b"+Inf"),
        ("ü", "ü".encode()),
        ("\udcff", b"\xff"),
    ],
)
def test_the_bytes_of_values(value: SopsValue, data: bytes) -> None:
    assert value_bytes(value) == data


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_lose_nothing(number: float) -> None:
    assert float(go_float(number)) == number


def test_values_of_different_kinds_are_not_the_same() -> None:
    assert not values_equal(1, 1.0)
    assert not values_equal(1, True)
    assert not values_equal("1", 1)
    assert values_equal(math.nan, math.nan)
