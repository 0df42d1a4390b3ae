"""How long controllers take to notice and to act: least and most seconds."""

from __future__ import annotations

from stockman_lab.core.dice import Dice

SECONDS: dict[str, tuple[float, float]] = {
    "sync": (0.005, 0.06),
    "garbage-collector": (0.05, 0.4),
    "namespace": (0.1, 0.5),
    "endpointslice": (0.02, 0.15),
    "endpoints": (0.02, 0.15),
    "disruption": (0.01, 0.1),
    "attachdetach": (0.1, 0.3),
    "persistentvolume-binder": (0.05, 0.3),
    "gitrepository": (0.2, 0.9),
    "ocirepository": (0.3, 1.2),
    "helmrepository": (0.4, 1.5),
    "kustomization": (0.05, 0.4),
}
"""By controller; those that are not named take as long as `sync` says."""
LEAST_BACKOFF = 0.005
MOST_BACKOFF = 1000.0
MOST_TRIES = 15


def latency(controller: str, dice: Dice) -> float:
    """Seconds from a change until a controller acts on it."""
    low, high = SECONDS.get(controller, SECONDS["sync"])
    return dice.between(low, high)


def backoff(tries: int) -> float:
    """Seconds until something that failed so many times is tried again."""
    return min(LEAST_BACKOFF * 2.0**tries, MOST_BACKOFF)
