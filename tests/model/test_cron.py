"""Schedules of cron, by the clock on a wall."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from stockman.model.schedule import parse_schedule

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
"""A Monday."""


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 3 * * 6", "2026-11-21T03:00"),
        ("0 12 * * *", "2026-11-17T12:00"),
        ("*/20 * * * *", "2026-11-16T12:20"),
        ("30 1 1 * *", "2026-12-01T01:30"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
        ("0 0 13 * fri", "2026-11-20T00:00"),
        ("15 22 * jan,mar sun", "2027-01-03T22:15"),
        ("0 8-10/2 * * 7", "2026-11-22T08:00"),
    ],
)
def test_the_next_moment(schedule: str, expected: str) -> None:
    next_after = parse_schedule(schedule).next_after(NOW, UTC)

    assert next_after is not None
    assert f"{next_after:%Y-%m-%dT%H:%M}" == expected


def test_a_schedule_of_days_that_never_come_has_no_next_moment() -> None:
    assert parse_schedule("0 0 31 2 *").next_after(NOW, UTC) is None


def test_moments_are_those_of_the_clock_where_it_is() -> None:
    next_after = parse_schedule("0 3 * * *").next_after(NOW, BERLIN)

    assert next_after == datetime(2026, 11, 17, 2, 0, tzinfo=UTC)


def test_a_moment_that_the_clocks_jump_over_comes_as_much_later() -> None:
    evening = datetime(2027, 3, 27, 20, 0, tzinfo=UTC)

    next_after = parse_schedule("30 2 * * *").next_after(evening, BERLIN)

    assert next_after == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)
    assert f"{next_after.astimezone(BERLIN):%H:%M}" == "03:30"


def test_the_latest_moment_is_one_that_was_not_long_ago() -> None:
    daily = parse_schedule("0 11 * * *")

    assert daily.latest_before(NOW, UTC, timedelta(hours=2)) == NOW - timedelta(hours=1)
    assert daily.latest_before(NOW, UTC, timedelta(minutes=59)) is None
    assert parse_schedule("0 12 * * *").latest_before(NOW, UTC, timedelta(0)) == NOW


def test_the_latest_moment_may_have_been_days_ago() -> None:
    latest = parse_schedule("0 3 * * 6").latest_before(NOW, UTC, timedelta(hours=100))

    assert latest == datetime(2026, 11, 14, 3, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "1 2 3", "60 * * * *", "0 24 * * *", "a * * * *", "*/0 * * * *"]
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whoever asks has the words for it
        parse_schedule(text)
