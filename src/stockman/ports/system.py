"""Protocols of the local system: clock, random numbers, editor and key command."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """A clock."""

    def now(self) -> datetime:
        """Return the current time with its time zone."""
        ...


class Timekeeper(Clock, Protocol):
    """A clock that can sleep."""

    async def sleep(self, seconds: float) -> None:
        """Sleep for a number of seconds."""
        ...


class Entropy(Protocol):
    """A source of random numbers."""

    def random_bytes(self, count: int) -> bytes:
        """Return random bytes suitable for keys."""
        ...


class Editor(Protocol):
    """The editor of the user."""

    def edit(self, path: Path) -> None:
        """Let the user edit a file; raises `NoAnswer` if the editor fails or does not exist."""
        ...


class KeyCommand(Protocol):
    """Runs the command in `SOPS_AGE_KEY_CMD`."""

    def output(self, command: str, extra: Mapping[str, str]) -> bytes:
        """Return the output of the command, run with additional environment variables.

        Raises `NoAnswer` if it cannot be run, fails or takes too long; its output is not in the
        error, because it may contain a key.
        """
        ...
