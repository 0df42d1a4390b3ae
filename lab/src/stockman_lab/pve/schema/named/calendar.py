"""Calendar events: `*/15`, `mon..fri 21:30`, `daily`, `*-*-1 02:00`."""

from __future__ import annotations

import re

_OFTEN = frozenset({"minutely", "hourly", "daily", "weekly", "monthly"})
_SELDOM = frozenset({"quarterly", "semiannually", "semi-annually", "yearly", "annually"})
_NAMES = _OFTEN | _SELDOM
_DAY = r"(?:(?:sun|mon|fri)(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|sat(?:urday)?)"
_DAYS = re.compile(rf"{_DAY}(?:\.\.{_DAY})?(?:,{_DAY}(?:\.\.{_DAY})?)*$", re.IGNORECASE)
_VALUE = re.compile(r"(?:\*|(\d{1,4})(?:\.\.(\d{1,4}))?)(?:/(\d{1,4}))?$")
_TIME = (23, 59, 59)
_MINUTE = 59


def calendar_event(text: str) -> str | None:
    """What is wrong with an event; None if nothing is."""
    event = text.strip()
    if not event:
        return (
            f"invalid calendar event '{text}' - unable to parse calendar event - event is empty\n"
        )
    if event.lower() in _NAMES or _is_event(event):
        return None
    return f"invalid calendar event '{text}' - unable to parse calendar event '{event}'\n"


def _is_event(event: str) -> bool:
    words = event.split()
    if words[-1:] == ["UTC"] and len(words) > 1:
        words.pop()
    if words and _DAYS.match(words[0]):
        words.pop(0)
        if not words:
            return True
    if len(words) > 1 and _is_date(words[0]):
        words.pop(0)
    return len(words) == 1 and (_is_time(words[0]) or _is_date(words[0]))


def _is_date(word: str) -> bool:
    fields = word.split("-")
    bounds = (9999, 12, 31)[-len(fields) :]
    return len(fields) in {2, 3} and all(map(_is_list, fields, bounds))


def _is_time(word: str) -> bool:
    fields = word.split(":")
    if len(fields) == 1:
        return _is_list(word, _MINUTE)
    return len(fields) in {2, 3} and all(map(_is_list, fields, _TIME))


def _is_list(field: str, most: int) -> bool:
    return all(_is_value(value, most) for value in field.split(","))


def _is_value(value: str, most: int) -> bool:
    match = _VALUE.match(value)
    if match is None:
        return False
    first, last, step = match.groups()
    numbers = [int(number) for number in (first, last) if number is not None]
    return numbers == sorted(numbers) and all(n <= most for n in numbers) and step != "0"
