"""Time spans as the configuration writes them: `90s`, `10m`, `1h30m`."""

from __future__ import annotations

import re
from datetime import timedelta

_PIECE = re.compile(r"(\d+)([hms])")
_UNITS = {"h": "hours", "m": "minutes", "s": "seconds"}


def time_span(text: str) -> timedelta:
    """How long a text says; it has the shape of a `DurationText`."""
    pieces = _PIECE.findall(text)
    return sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in pieces), timedelta())
