"""Calendar events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.tests.pve.schema.named.judging import problem

EVENT = "pve-calendar-event"


@pytest.mark.parametrize(
    "text",
    [
        "*/15",
        "*/2:00",
        "0,30",
        "21:00",
        "02:30:15",
        "mon..fri 21:30",
        "sat",
        "sun,wed 8..17:0/30",
        "daily",
        "*-*-1 02:00",
        "*-1..6-1 2:00 UTC",
        "*-*-*",
        " hourly ",
    ],
)
def test_these_events_are_fit(text: str) -> None:
    assert problem(EVENT, text) is None


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "1:60", "mon..x 1:00", "5..3", "*/0", "1:00 2:00", "*-13-1 1:00"]
)
def test_these_events_are_refused(text: str) -> None:
    said = problem(EVENT, text)

    assert said is not None
    assert said.startswith(f"invalid calendar event '{text}' - unable to parse calendar event")


@given(st.text() | st.text("*/.,:- 0123456789monfriUTC", max_size=30))
def test_no_event_breaks_the_reader(text: str) -> None:
    said = problem(EVENT, text)

    assert said is None or said.startswith("invalid calendar event")
