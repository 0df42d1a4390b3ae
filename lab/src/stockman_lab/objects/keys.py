"""Keys that open an object storage."""

from __future__ import annotations

import base64
from typing import NamedTuple

from stockman_lab.core.dice import Dice
from stockman_lab.objects.state import ObjectsState

_FAR = 1 << 45
"""Dice of their own: whether anybody asks changes nothing in the world."""


class AccessKey(NamedTuple):
    """What a client signs with."""

    id: str
    secret: str


def first_key(state: ObjectsState, seed: int) -> AccessKey:
    """The first key of a storage; made where there is none."""
    if not state.keys:
        dice = Dice(seed, _FAR)
        name = base64.b32encode(dice.random_bytes(10)).decode()
        state.keys[f"AKIA{name}"] = base64.b64encode(dice.random_bytes(30)).decode()
    return AccessKey(*next(iter(state.keys.items())))
