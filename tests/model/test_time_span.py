"""Time spans of the configuration."""

from datetime import timedelta

import pytest

from stockman.model.schedule import parse_duration


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", timedelta(seconds=90)),
        ("10m", timedelta(minutes=10)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("48h1s", timedelta(days=2, seconds=1)),
    ],
)
def test_a_text_is_as_long_as_it_says(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected
