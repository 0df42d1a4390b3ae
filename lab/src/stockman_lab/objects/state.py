"""What an object storage holds: buckets, objects, and uploads that are not finished."""

from __future__ import annotations

import base64
from dataclasses import field
from typing import NamedTuple

from stockman_lab.core.dice import Dice
from stockman_lab.core.state import state


@state
class StoredObject:
    """An object; its bytes are a blob of the world."""

    blob: str
    size: int
    etag: str
    """Without quotes."""
    modified_at: float
    content_type: str = "binary/octet-stream"
    metadata: dict[str, str] = field(default_factory=dict)
    """Of the user, without `x-amz-meta-`."""


@state
class Part:
    """A part of an upload."""

    blob: str
    size: int
    etag: str
    modified_at: float


@state
class Multipart:
    """An upload in parts that is not finished."""

    key: str
    started_at: float
    content_type: str
    metadata: dict[str, str] = field(default_factory=dict)
    parts: dict[int, Part] = field(default_factory=dict)


@state
class Bucket:
    """A bucket."""

    created_at: float
    objects: dict[str, StoredObject] = field(default_factory=dict)
    uploads: dict[str, Multipart] = field(default_factory=dict)
    """By id."""


@state
class ObjectsState:
    """One object storage."""

    region: str = "us-east-1"
    keys: dict[str, str] = field(default_factory=dict)
    """Secrets by access key."""
    buckets: dict[str, Bucket] = field(default_factory=dict)
    uploads_begun: int = 0


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
