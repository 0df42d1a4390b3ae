"""How long ago something was, in few characters."""

from __future__ import annotations

from datetime import UTC, datetime

UNKNOWN = "<unknown>"
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


class Ages:
    """Ages at one moment."""

    def __init__(self, now: float) -> None:
        self.now = now

    def since(self, moment: object) -> str:
        """How long ago a moment of an object was."""
        return human(self.now - seconds_of(moment)) if moment else UNKNOWN


def seconds_of(moment: object) -> float:
    """A moment as objects write it, in seconds since 1970."""
    return datetime.fromisoformat(str(moment)).astimezone(UTC).timestamp()


def human(seconds: float) -> str:
    """A stretch of time in the one or two largest units that matter."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    if whole < 10 * _MINUTE:
        return _pair(whole // _MINUTE, "m", whole % _MINUTE, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _pair(whole // _HOUR, "h", whole // _MINUTE % 60, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _pair(whole // _DAY, "d", whole // _HOUR % 24, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _pair(whole // _YEAR, "y", whole // _DAY % 365, "d")
    return f"{whole // _YEAR}y"


def _pair(large: int, unit: str, small: int, smaller: str) -> str:
    return f"{large}{unit}{small}{smaller}" if small else f"{large}{unit}"
