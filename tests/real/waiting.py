"""Waiting for real programs, in real time, without taking their processor away from them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

_MOMENT = 0.05
_PATIENCE = timedelta(minutes=1)


def rest(seconds: float = _MOMENT) -> None:
    """Let others work."""
    time.sleep(seconds)  # noqa: TID251  # real programs take real time


def wait_until(
    is_so: Callable[[], bool],
    told: Callable[[], object] = lambda: "it never comes to that",
    patience: timedelta = _PATIENCE,
) -> None:
    """Look again and again until something is so; what is told otherwise ends the test."""
    end = time.monotonic() + patience.total_seconds()  # noqa: TID251  # as above
    while not is_so():
        assert time.monotonic() < end, told()  # noqa: TID251  # as above
        rest()
