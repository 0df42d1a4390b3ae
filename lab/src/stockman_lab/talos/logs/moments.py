"""Moments as logs write them."""

from __future__ import annotations

from datetime import UTC, datetime

_MICROSECONDS = 1_000_000


def go_moment(at: float) -> str:
    """As Go writes them at their finest: no zeros at the end, `2026-01-02T03:04:05.5Z`."""
    text = _text(at, "%Y-%m-%dT%H:%M:%S.%f").rstrip("0").rstrip(".")
    return f"{text}Z"


def zap_moment(at: float) -> str:
    """With milliseconds: `2026-01-02T03:04:05.500Z`."""
    return f"{_text(at, '%Y-%m-%dT%H:%M:%S.%f')[:-3]}Z"


def cri_moment(at: float) -> str:
    """With nanoseconds, as logs of containers have them."""
    return f"{_text(at, '%Y-%m-%dT%H:%M:%S.%f')}000Z"


def log_moment(at: float) -> str:
    """As Go's own log writes them: `2026/01/02 03:04:05.500000`."""
    return _text(at, "%Y/%m/%d %H:%M:%S.%f")


def _text(at: float, form: str) -> str:
    whole, rest = divmod(round(at * _MICROSECONDS), _MICROSECONDS)
    return datetime.fromtimestamp(whole, UTC).replace(microsecond=rest).strftime(form)
