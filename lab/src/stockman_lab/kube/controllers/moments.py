"""Moments as objects write them."""

from __future__ import annotations

from datetime import datetime


def read_time(text: object) -> float:
    """Seconds since 1970; 0 where there is no moment."""
    if not isinstance(text, str) or not text:
        return 0.0
    return datetime.fromisoformat(text).timestamp()
