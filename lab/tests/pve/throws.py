"""Dice that count: every throw is the next number."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass
class Counting:
    """Dice whose throws can be told beforehand."""

    thrown: int = 0

    def random_bytes(self, count: int) -> bytes:
        """The number of the throw, in as many bytes."""
        self.thrown += 1
        return self.thrown.to_bytes(count, "big")

    def uuid(self) -> str:
        """The number of the throw, as a UUID."""
        return str(UUID(bytes=self.random_bytes(16)))
