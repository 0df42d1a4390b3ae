"""Logs that go on while somebody reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.talos.api.call import Call
    from stockman_lab.talos.state import LogLine


class Session:
    """The time until a machine stops to answer as it did when a call came in."""

    def __init__(self, call: Call) -> None:
        self._state = call.machine.state
        self._began = (self._state.boot, self._state.api)

    @property
    def lasts(self) -> bool:
        """Whether it is still the same boot, and the same way to answer."""
        return (self._state.boot, self._state.api) == self._began

    @property
    def same_boot(self) -> bool:
        """Whether what is kept in memory is still what it was, with more."""
        return self._state.boot == self._began[0]


async def followed(
    call: Call, read: Callable[[], Sequence[LogLine]], begin: Sequence[LogLine]
) -> AsyncIterator[LogLine]:
    """Lines of a log that come after those that were there; ends when the machine goes down."""
    session = Session(call)
    seen = [(line.at, line.text) for line in begin]
    while True:
        await call.changed()
        if not session.lasts:
            return
        now = list(read())
        for line in now[_place_after(seen, now) :]:
            yield line
        seen = [(line.at, line.text) for line in now]


def _place_after(seen: Sequence[tuple[float, str]], now: Sequence[LogLine]) -> int:
    """Where in a log the lines begin that were not seen; the oldest ones may be gone by now."""
    if not seen:
        return 0
    last = seen[-1]
    for number in range(len(now) - 1, -1, -1):
        if (now[number].at, now[number].text) == last:
            return number + 1
    return next((place for place, line in enumerate(now) if line.at > last[0]), len(now))
