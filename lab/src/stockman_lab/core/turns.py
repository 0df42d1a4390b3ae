"""Faults that come and go by turns: `seconds` of trouble, and as many of peace."""

from __future__ import annotations

from math import floor

from stockman_lab.core.faults import Fault


def is_at_work(fault: Fault, now: float) -> bool:
    """Whether it is the turn of trouble; one that knows no turns is always at work."""
    return fault.seconds <= 0 or floor(_turns(fault, now)) % 2 == 0


def next_turn(fault: Fault, now: float) -> float | None:
    """When it is the turn of the other. None: there are no turns."""
    if fault.seconds <= 0:
        return None
    return (fault.since or 0.0) + (floor(_turns(fault, now)) + 1) * fault.seconds


def _turns(fault: Fault, now: float) -> float:
    return (now - (fault.since or 0.0)) / fault.seconds
