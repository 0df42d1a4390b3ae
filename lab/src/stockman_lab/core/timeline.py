"""Time in the world: a clock that moves only when told, and what happens at which moment.

What is going to happen is data, a name and arguments, so that a world can be saved in between.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from stockman_lab.core.state import state

Arguments: TypeAlias = dict[str, object]
Happening: TypeAlias = Callable[[str, Arguments], None]

_MOST_AT_ONCE = 200_000


@dataclass(slots=True)
class Event:
    """Something that is going to happen."""

    at: float
    number: int
    """Of two at the same moment, the one that was planned first comes first."""
    name: str
    arguments: Arguments = field(default_factory=dict)
    patient: bool = False
    """Whether it waits for its moment: a world that hurries does not hurry for it."""


@state
class TimelineState:
    """What a saved world keeps of its time."""

    now: float
    planned: int = 0
    events: dict[int, Event] = field(default_factory=dict)
    """By number."""


class Timeline:
    """The clock of a world and everything that waits for it."""

    def __init__(self, state: TimelineState, happen: Happening) -> None:
        self.state = state
        self._happen = happen
        self._heap = [(event.at, event.number) for event in state.events.values()]
        self._hasty = [
            (event.at, event.number) for event in state.events.values() if not event.patient
        ]
        heapq.heapify(self._heap)
        heapq.heapify(self._hasty)

    @property
    def now(self) -> float:
        """Seconds since 1970 in the world."""
        return self.state.now

    @property
    def next_at(self) -> float | None:
        """When the next thing happens that a world hurries for; None: it is at rest."""
        while self._hasty and self._hasty[0][1] not in self.state.events:
            heapq.heappop(self._hasty)
        return self._hasty[0][0] if self._hasty else None

    @property
    def soonest_at(self) -> float | None:
        """When the next thing happens of all that is planned; None: nothing is."""
        return self._heap[0][0] if self._heap else None

    def after(
        self, seconds: float, name: str, arguments: Mapping[str, object], *, patient: bool = False
    ) -> None:
        """Plan something; at once means before time goes on, not before this call returns."""
        self.at(self.now + max(seconds, 0.0), name, arguments, patient=patient)

    def at(
        self, moment: float, name: str, arguments: Mapping[str, object], *, patient: bool = False
    ) -> None:
        """Plan something for a moment; one that has passed is now.

        What is patient happens when its moment comes, but nobody hurries for it: deadlines that
        may never matter, what is done every hour.
        """
        self.state.planned += 1
        event = Event(max(moment, self.now), self.state.planned, name, dict(arguments), patient)
        self.state.events[event.number] = event
        heapq.heappush(self._heap, (event.at, event.number))
        if not patient:
            heapq.heappush(self._hasty, (event.at, event.number))

    def run_until(self, moment: float) -> None:
        """Let everything happen that is planned up to a moment, and be there then."""
        while self._heap and self._heap[0][0] <= moment:
            self._step()
        self.state.now = max(self.now, moment)

    def run_all(self) -> None:
        """Let everything happen that is not patient, and what that plans in turn."""
        for _ in range(_MOST_AT_ONCE):
            if self.next_at is None:
                return
            self._step()
        raise RuntimeError("the world never comes to rest")

    def _step(self) -> None:
        at, number = heapq.heappop(self._heap)
        event = self.state.events.pop(number)
        self.state.now = max(self.now, at)
        self._happen(event.name, event.arguments)
