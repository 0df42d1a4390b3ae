"""When calendar events come."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from stockman_lab.pve.storages.calendar import next_event

THURSDAY = datetime(2026, 1, 1, 12, 7, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("event", "comes"),
    [
        ("*/15", "2026-01-01T12:15:00+00:00"),
        ("12:07", "2026-01-02T12:07:00+00:00"),
        ("0,30", "2026-01-01T12:30:00+00:00"),
        ("21:30", "2026-01-01T21:30:00+00:00"),
        ("mon..fri 02:00", "2026-01-02T02:00:00+00:00"),
        ("sat,sun 02:00", "2026-01-03T02:00:00+00:00"),
        ("fri..mon 02:00", "2026-01-02T02:00:00+00:00"),
        ("wed", "2026-01-07T00:00:00+00:00"),
        ("*-*-15 03:00", "2026-01-15T03:00:00+00:00"),
        ("02-29", "2028-02-29T00:00:00+00:00"),
        ("2027-*-* 00:00", "2027-01-01T00:00:00+00:00"),
        ("8..20/4:00", "2026-01-01T16:00:00+00:00"),
        ("hourly", "2026-01-01T13:00:00+00:00"),
        ("daily", "2026-01-02T00:00:00+00:00"),
        ("weekly", "2026-01-05T00:00:00+00:00"),
        ("monthly", "2026-02-01T00:00:00+00:00"),
        ("quarterly", "2026-04-01T00:00:00+00:00"),
        ("yearly", "2027-01-01T00:00:00+00:00"),
        ("21:30 UTC", "2026-01-01T21:30:00+00:00"),
    ],
)
def test_the_next_moment_of_an_event_is_found(event: str, comes: str) -> None:
    assert next_event(event, THURSDAY) == int(datetime.fromisoformat(comes).timestamp())


def test_a_date_that_is_over_never_comes_again() -> None:
    assert next_event("2020-01-01 00:00", THURSDAY) is None
