"""Format durations."""

from __future__ import annotations

_MINUTE = 60
_HOUR = 60 * _MINUTE


def format_duration(seconds: float) -> str:
    """Format whole seconds in Go notation: `1h2m3s`."""
    minutes, seconds_left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds_left}s"
    return f"{minutes}m{seconds_left}s" if minutes else f"{seconds_left}s"


def format_estimate(seconds: float) -> str:
    """Format an estimate with reduced precision: `40s`, `6m`, `1h20m`."""
    if seconds < _MINUTE:
        return f"{max(round(seconds / 5) * 5, 5)}s" if seconds > 0 else "0s"
    minutes = round(seconds / _MINUTE)
    if seconds < _HOUR:
        return f"{minutes}m"
    hours, minutes_left = divmod(round(minutes / 5) * 5, 60)
    return f"{hours}h{minutes_left}m" if minutes_left else f"{hours}h"
