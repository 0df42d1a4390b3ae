"""Where random bytes come from: dice that are handed in."""

from __future__ import annotations

from typing import Protocol


class Throws(Protocol):
    """Dice of the world, as far as texts need them."""

    def random_bytes(self, count: int) -> bytes:
        """So many bytes."""

    def uuid(self) -> str:
        """A random UUID."""
