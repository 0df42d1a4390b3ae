"""How long steps of a machine take: smallest, most likely and largest number of seconds."""

from __future__ import annotations

from stockman_lab.core.dice import Dice

SECONDS: dict[str, tuple[float, float, float]] = {
    "firmware": (8.0, 12.0, 20.0),
    "kernel": (4.0, 8.0, 20.0),
    "kexec": (2.0, 3.0, 6.0),
    "network": (2.0, 5.0, 12.0),
    "time": (1.0, 3.0, 10.0),
    "pull": (10.0, 30.0, 180.0),
    "install": (10.0, 20.0, 45.0),
    "write": (2.0, 5.0, 20.0),
    "drain": (5.0, 30.0, 120.0),
    "stop": (5.0, 15.0, 60.0),
    "unmount": (1.0, 2.0, 5.0),
    "leave": (2.0, 5.0, 15.0),
    "wipe": (2.0, 5.0, 20.0),
    "boot": (3.0, 6.0, 12.0),
    "phase": (0.1, 0.2, 0.5),
    "service": (0.5, 1.0, 3.0),
    "cri": (2.0, 4.0, 8.0),
    "kubelet": (5.0, 12.0, 30.0),
    "etcd": (10.0, 20.0, 60.0),
    "promote": (20.0, 45.0, 120.0),
    "static-pods": (20.0, 25.0, 40.0),
}
"""Firmware, kernel, network and boot together are what is known as boot to API."""


def throw(name: str, dice: Dice) -> float:
    """A duration, the most likely ones most often."""
    low, mode, high = SECONDS[name]
    path = dice.below(1 << 30) / (1 << 30)
    turn = (mode - low) / (high - low)
    if path < turn:
        return low + float((path * (high - low) * (mode - low)) ** 0.5)
    return high - float(((1 - path) * (high - low) * (high - mode)) ** 0.5)
