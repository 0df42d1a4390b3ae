"""Schedules of cron: five fields, or a word for the usual ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MOST_DAYS = 366 * 5


class BadSchedule(ValueError):
    """A text that is no schedule."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something happens again and again."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def after(self, moment: float, zone: tzinfo = UTC) -> float | None:
        """The first moment behind another; None: there is none within five years."""
        begin = datetime.fromtimestamp(moment, zone).replace(second=0, microsecond=0)
        begin += timedelta(minutes=1)
        day = begin.replace(hour=0, minute=0)
        for number in range(_MOST_DAYS):
            if self._is_day(day):
                result = self._within(day, begin if number == 0 else day)
                if result is not None:
                    return result.timestamp()
            day = (day + timedelta(days=1)).replace(hour=0, minute=0)
        return None

    def _is_day(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        fits, falls = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return fits and falls
        return fits or falls

    def _within(self, day: datetime, begin: datetime) -> datetime | None:
        for hour in sorted(self.hours):
            for minute in sorted(self.minutes):
                result = day.replace(hour=hour, minute=minute)
                if result >= begin:
                    return result
        return None


def read_schedule(text: str) -> Schedule:
    """`*/5 * * * *` or `@hourly`; raises `BadSchedule`."""
    fields = _WORDS.get(text.strip(), text).split()
    if len(fields) != 5:
        raise BadSchedule(f"expected exactly 5 fields, found {len(fields)}: {fields}")
    minute, hour, day, month, weekday = fields
    weekdays = _numbers(weekday, 0, 7, _DAYS)
    return Schedule(
        _numbers(minute, 0, 59),
        _numbers(hour, 0, 23),
        _numbers(day, 1, 31),
        _numbers(month, 1, 12, _MONTHS),
        frozenset(one % 7 for one in weekdays),
        day[0] in "*?",
        weekday[0] in "*?",
    )


def _numbers(text: str, low: int, high: int, words: list[str] | None = None) -> frozenset[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span in {"*", "?"}:
            first, last = low, min(high, 6) if words is _DAYS else high
        else:
            left, _, right = span.partition("-")
            first = _number(left, words, low)
            last = _number(right, words, low) if right else high if step else first
        if not low <= first <= last <= high or (step and not step.isdigit()):
            raise BadSchedule(f"failed to parse {part!r}")
        numbers.update(range(first, last + 1, int(step or 1)))
    return frozenset(numbers)


def _number(text: str, words: list[str] | None, low: int) -> int:
    if words and text.lower() in words:
        return words.index(text.lower()) + (low if words is _MONTHS else 0)
    if not text.isdigit():
        raise BadSchedule(f"failed to parse int from {text}")
    return int(text)
