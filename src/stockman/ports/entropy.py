"""Randomness."""

from __future__ import annotations

from typing import Protocol


class Entropy(Protocol):
    """Throws the dice."""

    def random_bytes(self, count: int) -> bytes:
        """So many bytes that nobody can foretell, fit for keys."""
        ...
