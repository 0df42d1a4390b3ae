"""How far apart the moments of a cron schedule are."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise

from stockman.model.cron import read_schedule

_DAYS = 800
"""Far enough for every schedule but those of the 29th of February alone."""
_START = date(2027, 1, 1)


def longest_gap(schedule: str) -> timedelta | None:
    """The longest time between two moments of a schedule. None: it has none, or is none."""
    try:
        found = read_schedule(schedule)
    except ValueError:
        return None
    ends = (found.times[0], found.times[-1])
    moments: list[datetime] = []
    for number in range(_DAYS):
        day = _START + timedelta(days=number)
        if found.is_on(day):
            moments += (datetime.combine(day, one) for one in ends)
    within = [
        datetime.combine(_START, later) - datetime.combine(_START, earlier)
        for earlier, later in pairwise(found.times)
    ]
    between = [
        later - earlier for earlier, later in zip(moments[1::2], moments[2::2], strict=False)
    ]
    return max([*within, *between], default=None) if moments else None
