"""How somebody stops a run: once to end it well, twice to end it now."""

from __future__ import annotations

from collections.abc import Callable


class Stopped(Exception):
    """The run was asked to stop before this had an effect."""


class Stop:
    """Counts how often somebody asked; Ctrl-C calls `ask`."""

    def __init__(self) -> None:
        self._asked = 0
        self.when_now: list[Callable[[], object]] = []
        """Called when it is to be at once."""

    def ask(self) -> None:
        """The first time: start nothing new, finish what has an effect, give back what is held.
        The second time: leave everything as it is."""
        self._asked += 1
        if self._asked == 2:
            for call in self.when_now:
                call()

    @property
    def is_asked(self) -> bool:
        return self._asked > 0

    @property
    def is_now(self) -> bool:
        return self._asked > 1

    def raise_if_asked(self) -> None:
        if self.is_asked:
            raise Stopped
