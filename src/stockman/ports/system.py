"""The time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """This moment, with its time zone."""
        ...


class Timekeeper(Clock, Protocol):
    """Tells the time, and lets it pass."""

    async def sleep(self, seconds: float) -> None:
        """Return once so many seconds have passed."""
        ...


class Entropy(Protocol):
    """Throws the dice."""

    def random_bytes(self, count: int) -> bytes:
        """So many bytes that nobody can foretell, fit for keys."""
        ...


class Editor(Protocol):
    """Lets the user change a file."""

    def edit(self, path: Path) -> None:
        """Return when the user is done; `NoAnswer` where no editor runs, or it says it failed."""
        ...


class KeyCommand(Protocol):
    """Runs the command that `SOPS_AGE_KEY_CMD` names."""

    def output(self, command: str, extra: Mapping[str, str]) -> bytes:
        """What the command prints, with more variables in its environment.

        `NoAnswer` where it cannot be run, fails or takes too long; its words are kept back,
        because they may hold a key.
        """
        ...
