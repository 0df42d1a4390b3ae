"""Spans of time as people read them."""

from __future__ import annotations

_MINUTE = 60
_HOUR = 60 * _MINUTE


def format_duration(seconds: float) -> str:
    """As Go writes whole seconds: `1h2m3s`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def format_estimate(seconds: float) -> str:
    """An estimate, no more exact than it can be: `40s`, `6m`, `1h20m`."""
    if seconds < _MINUTE:
        return f"{max(round(seconds / 5) * 5, 5)}s" if seconds > 0 else "0s"
    minutes = round(seconds / _MINUTE)
    if seconds < _HOUR:
        return f"{minutes}m"
    hours, rest = divmod(round(minutes / 5) * 5, 60)
    return f"{hours}h{rest}m" if rest else f"{hours}h"
