"""Numbers that belong to a machine: always the same ones for the same name."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_FINE = 1 << 32


def digest(machine: Machine, name: str) -> str:
    """Sixty-four digits."""
    text = f"{machine.key}/{machine.state.uuid}/{name}"
    return hashlib.sha256(text.encode()).hexdigest()


def share(machine: Machine, name: str) -> float:
    """A number from 0 up to but not including 1."""
    return int(digest(machine, name)[:8], 16) / _FINE


def between(machine: Machine, name: str, low: float, high: float) -> float:
    """A number of a range."""
    return low + (high - low) * share(machine, name)


def whole(machine: Machine, name: str, low: int, high: int) -> int:
    """A whole number from `low` up to but not including `high`."""
    return low + int(share(machine, name) * (high - low))


def uuid(machine: Machine, name: str) -> str:
    """A UUID of version 4."""
    return str(UUID(hex=digest(machine, name)[:32], version=4))


def wave(machine: Machine, name: str, seconds: float) -> float:
    """A number between -1 and 1 that goes up and down with the clock, once in so many seconds."""
    return math.sin(2 * math.pi * (machine.now / seconds + share(machine, name)))
