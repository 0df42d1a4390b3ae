"""Dice of the world: the same seed gives the same throws, also after it was saved."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from stockman_lab.core.state import state

T = TypeVar("T")
_BLOCK = 32


@state
class Dice:
    """Random numbers that are none: a seed and how often it was asked."""

    seed: int
    thrown: int = 0

    def random_bytes(self, count: int) -> bytes:
        """So many bytes."""
        first = self.thrown + 1
        self.thrown += -(-count // _BLOCK)
        blocks = range(first, self.thrown + 1)
        text = b"".join(
            hashlib.sha256(f"{self.seed}:{block}".encode()).digest() for block in blocks
        )
        return text[:count]

    def below(self, limit: int) -> int:
        """A number from 0 up to but not including a limit."""
        return int.from_bytes(self.random_bytes(8), "big") % limit

    def between(self, low: float, high: float) -> float:
        """A number of a range."""
        return low + (high - low) * self.below(1 << 30) / (1 << 30)

    def one_of(self, items: Sequence[T]) -> T:
        """One of several."""
        return items[self.below(len(items))]

    def uuid(self) -> str:
        """A random UUID, version 4."""
        return str(UUID(bytes=self.random_bytes(16), version=4))
