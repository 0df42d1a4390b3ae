"""Requests that wait themselves for the lock of a guest's file."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.pve.api.call import Call, Deferred
from stockman_lab.pve.qemu.file_lock import PATIENCE, lock_timeout, seconds_locked

_AND_A_LITTLE = 0.01
"""Seconds after which the one before is through for sure."""


def when_unlocked(call: Call, act: Callable[[], object], kind: str = "qemu") -> object:
    """Do something with the guest as soon as nobody works on it, or give up."""
    guest = call.guest(kind)
    wait = seconds_locked(guest, call.now)
    if not wait:
        return act()

    def later() -> object:
        if seconds_locked(guest, call.now):
            raise lock_timeout(guest)
        return act()

    return Deferred(min(wait + _AND_A_LITTLE, PATIENCE), later)
