"""Durations as Go writes them."""

from __future__ import annotations

import re

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_FORM = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)")


def seconds_of(text: str) -> float:
    """The seconds of `1m30s`."""
    sign = -1.0 if text.startswith("-") else 1.0
    return sign * sum(float(one) * _UNITS[unit] for one, unit in _FORM.findall(text))


def duration_text(seconds: float) -> str:
    """`1m30s` of seconds, from a second on."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    digits = f"{rest:.9f}".rstrip("0").rstrip(".")
    text = f"{digits}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text
