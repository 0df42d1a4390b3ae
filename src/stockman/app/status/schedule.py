"""How far apart the moments of a cron schedule are."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from itertools import pairwise

_DAYS = 800
"""Far enough for every schedule but those of the 29th of February alone."""
_START = date(2027, 1, 1)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEK = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def longest_gap(schedule: str) -> timedelta | None:
    """The longest time between two moments of a schedule. None: it has none, or is none."""
    try:
        minutes, hours, days, months, week = _fields(schedule)
    except ValueError:
        return None
    times = [time(hour, minute) for hour in sorted(hours) for minute in sorted(minutes)]
    either = days != set(range(1, 32)) and week != set(range(7))
    moments: list[datetime] = []
    for number in range(_DAYS):
        day = _START + timedelta(days=number)
        if day.month not in months or not times:
            continue
        fits = (day.day in days, day.isoweekday() % 7 in week)
        if any(fits) if either else all(fits):
            moments += (datetime.combine(day, one) for one in (times[0], times[-1]))
    within = [
        datetime.combine(_START, later) - datetime.combine(_START, earlier)
        for earlier, later in pairwise(times)
    ]
    between = [
        later - earlier for earlier, later in zip(moments[1::2], moments[2::2], strict=False)
    ]
    return max([*within, *between], default=None)


def _fields(schedule: str) -> tuple[set[int], set[int], set[int], set[int], set[int]]:
    minute, hour, day, month, week = schedule.split()
    return (
        _values(minute, 0, 59),
        _values(hour, 0, 23),
        _values(day, 1, 31),
        _values(month, 1, 12, _MONTHS),
        {one % 7 for one in _values(week, 0, 7, _WEEK)},
    )


def _values(field: str, least: int, most: int, names: tuple[str, ...] = ()) -> set[int]:
    """The values of one field; `ValueError` where it is none."""
    found: set[int] = set()
    for piece in field.lower().split(","):
        span, _, step = piece.partition("/")
        first, dash, last = span.partition("-")
        if first == "*":
            low, high = least, most
        else:
            low = _value(first, least, names)
            high = _value(last, least, names) if dash else (most if step else low)
        if not least <= low <= high <= most:
            raise ValueError(piece)
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _value(word: str, least: int, names: tuple[str, ...]) -> int:
    return names.index(word) + least if word in names else int(word)
