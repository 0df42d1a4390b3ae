"""When calendar events come: `*/15`, `mon..fri 21:30`, `*-*-1 02:00`, `daily`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_NAMED = {
    "minutely": "*:*",
    "hourly": "*:00",
    "daily": "00:00",
    "weekly": "mon 00:00",
    "monthly": "*-*-1 00:00",
    "quarterly": "*-1,4,7,10-1 00:00",
    "semiannually": "*-1,7-1 00:00",
    "semi-annually": "*-1,7-1 00:00",
    "yearly": "*-1-1 00:00",
    "annually": "*-1-1 00:00",
}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FURTHEST = 1500
"""Days that are looked at; an event on 29 February comes within them."""


@dataclass(frozen=True, slots=True)
class _Event:
    weekdays: frozenset[int]
    years: frozenset[int] | None
    months: frozenset[int]
    days: frozenset[int]
    hours: frozenset[int]
    minutes: frozenset[int]

    def is_on(self, day: datetime) -> bool:
        return (
            day.weekday() in self.weekdays
            and (self.years is None or day.year in self.years)
            and day.month in self.months
            and day.day in self.days
        )


def next_event(text: str, after: float) -> int | None:
    """The first moment of an event after another moment; None: it never comes again."""
    event = _read(_NAMED.get(text.strip().lower(), text.strip().lower()))
    moment = datetime.fromtimestamp(after, UTC)
    first = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    for number in range(_FURTHEST):
        day = first + timedelta(days=number)
        if not event.is_on(day):
            continue
        for hour in sorted(event.hours):
            for minute in sorted(event.minutes):
                found = day + timedelta(hours=hour, minutes=minute)
                if found > moment:
                    return int(found.timestamp())
    return None


def _read(text: str) -> _Event:
    words = [word for word in text.split() if word != "utc"]
    weekdays = frozenset(range(7))
    if words and words[0][:3] in _DAYS:
        weekdays = _weekdays(words.pop(0))
    date = words.pop(0).split("-") if words and "-" in words[0] else []
    time = words.pop(0).split(":") if words else ["0", "0"]
    hours, minutes = (time[0], time[1]) if len(time) > 1 else ("*", time[0])
    years, months, days = (["*"] * 3 + date)[-3:]
    return _Event(
        weekdays=weekdays,
        years=None if years == "*" else _numbers(years, range(1970, 2200)),
        months=_numbers(months, range(1, 13)),
        days=_numbers(days, range(1, 32)),
        hours=_numbers(hours, range(24)),
        minutes=_numbers(minutes, range(60)),
    )


def _weekdays(text: str) -> frozenset[int]:
    weekdays: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("..")
        begin = _DAYS.index(first[:3])
        end = _DAYS.index(last[:3]) if last else begin
        weekdays.update(
            range(begin, end + 1) if begin <= end else (*range(begin, 7), *range(end + 1))
        )
    return frozenset(weekdays)


def _numbers(text: str, allowed: range) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("..")
        begin = allowed.start if first == "*" else int(first)
        open_end = allowed.stop - 1 if step or first == "*" else begin
        found.update(range(begin, int(last or open_end) + 1, int(step or 1)))
    return frozenset(found) & frozenset(allowed)
