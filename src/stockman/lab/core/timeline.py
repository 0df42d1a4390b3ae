"""Time in the world: a clock that moves only when told, and what happens at which moment.

What is going to happen is data, a name and arguments, so that a world can be saved in between.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from stockman.lab.core.state import state

Arguments: TypeAlias = dict[str, object]
Happening: TypeAlias = Callable[[str, Arguments], None]

_MOST_AT_ONCE = 200_000


@dataclass(slots=True, eq=False)
class Event:
    """Something that is going to happen."""

    at: float
    number: int
    """Of two at the same moment, the one that was planned first comes first."""
    name: str
    arguments: Arguments = field(default_factory=dict)


@state
class TimelineState:
    """What a saved world keeps of its time."""

    now: float
    planned: int = 0
    events: list[Event] = field(default_factory=list)


class Timeline:
    """The clock of a world and everything that waits for it."""

    def __init__(self, state: TimelineState, happen: Happening) -> None:
        self.state = state
        self._happen = happen
        self._heap = [(one.at, one.number, one) for one in state.events]
        heapq.heapify(self._heap)

    @property
    def now(self) -> float:
        """Seconds since 1970 in the world."""
        return self.state.now

    @property
    def next_at(self) -> float | None:
        """When the next thing happens; None: nothing is planned."""
        return self._heap[0][0] if self._heap else None

    def after(self, seconds: float, name: str, arguments: Mapping[str, object]) -> None:
        """Plan something; at once means before time goes on, not before this call returns."""
        self.at(self.now + max(seconds, 0.0), name, arguments)

    def at(self, moment: float, name: str, arguments: Mapping[str, object]) -> None:
        """Plan something for a moment; one that has passed is now."""
        self.state.planned += 1
        event = Event(max(moment, self.now), self.state.planned, name, dict(arguments))
        self.state.events.append(event)
        heapq.heappush(self._heap, (event.at, event.number, event))

    def run_until(self, moment: float) -> None:
        """Let everything happen that is planned up to a moment, and be there then."""
        while self._heap and self._heap[0][0] <= moment:
            self._step()
        self.state.now = max(self.now, moment)

    def run_all(self) -> None:
        """Let everything happen that is planned, and what that plans in turn."""
        for _ in range(_MOST_AT_ONCE):
            if not self._heap:
                return
            self._step()
        raise RuntimeError("the world never comes to rest")

    def _step(self) -> None:
        at, _, event = heapq.heappop(self._heap)
        self.state.events.remove(event)
        self.state.now = max(self.now, at)
        self._happen(event.name, event.arguments)
