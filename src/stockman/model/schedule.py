"""Cron schedules and durations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from stockman.model.pattern import pattern
from stockman.model.record import record

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_SEARCH_DAYS = 366 * 8
"""Days in which every valid schedule has a match: around century years, eight years can pass
without a 29th of February."""


@record
class Schedule:
    """A cron schedule in local time."""

    times: tuple[time, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """Days of the week; 0 is Sunday."""

    def matches_day(self, day: date) -> bool:
        """Return whether the schedule runs on a day. If both day and weekday are restricted, either
        may match."""
        if day.month not in self.months:
            return False
        fits = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        is_either = self.days != frozenset(range(1, 32)) and self.weekdays != frozenset(range(7))
        return any(fits) if is_either else all(fits)

    def next_after(self, moment: datetime, zone: tzinfo) -> datetime | None:
        """Return the first time after a moment; None: there is none."""
        today = moment.astimezone(zone).date()
        for number in range(_SEARCH_DAYS):
            for candidate in self._moments(today + timedelta(days=number), zone):
                if candidate > moment:
                    return candidate
        return None

    def latest_before(self, moment: datetime, zone: tzinfo, within: timedelta) -> datetime | None:
        """Return the last time at or before a moment, within a time span; None: there is none."""
        today = moment.astimezone(zone).date()
        for number in range(within.days + 2):
            day = today - timedelta(days=number)
            earlier = [
                candidate
                for candidate in self._moments(day, zone)
                if moment - within <= candidate <= moment
            ]
            if earlier:
                return earlier[-1]
        return None

    def _moments(self, day: date, zone: tzinfo) -> Iterator[datetime]:
        """All times of a day. A local time that is skipped by daylight saving is moved forward."""
        if self.matches_day(day):
            for wall_time in self.times:
                yield datetime.combine(day, wall_time, zone).astimezone(UTC)


def parse_schedule(text: str) -> Schedule:
    """Parse five cron fields; raises ValueError if they are invalid."""
    minute, hour, day, month, week = text.split()
    hours = sorted(_parse_field(hour, 0, 23))
    minutes = sorted(_parse_field(minute, 0, 59))
    return Schedule(
        times=tuple(time(hour, minute) for hour in hours for minute in minutes),
        days=frozenset(_parse_field(day, 1, 31)),
        months=frozenset(_parse_field(month, 1, 12, _MONTHS)),
        weekdays=frozenset(weekday % 7 for weekday in _parse_field(week, 0, 7, _WEEKDAYS)),
    )


def _parse_field(field: str, least: int, most: int, names: tuple[str, ...] = ()) -> set[int]:
    """Parse one field; raises ValueError if it is invalid."""
    values: set[int] = set()
    for piece in field.lower().split(","):
        span, _, step = piece.partition("/")
        first, dash, last = span.partition("-")
        if first == "*":
            low, high = least, most
        else:
            low = _parse_value(first, least, names)
            high = _parse_value(last, least, names) if dash else (most if step else low)
        if not least <= low <= high <= most:
            raise ValueError(piece)
        values.update(range(low, high + 1, int(step or 1)))
    return values


def _parse_value(text: str, least: int, names: tuple[str, ...]) -> int:
    return names.index(text) + least if text in names else int(text)


_DURATION_PART = pattern(r"(\d+)([hms])")
_DURATION_UNITS = {"h": "hours", "m": "minutes", "s": "seconds"}


def parse_duration(text: str) -> timedelta:
    """Parse a duration such as `90s` or `1h30m`, which must have the format of a `DurationText`."""
    pieces = _DURATION_PART.findall(text)
    return sum(
        (timedelta(**{_DURATION_UNITS[unit]: int(count)}) for count, unit in pieces), timedelta()
    )
