"""Steps that wait for their turn, found without looking at all the others."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Set

from stockman.engine.times import tails
from stockman.steps.plan import Plan
from stockman.steps.step import Step


class Waiting:
    """Steps of a plan that have not begun, those first that the most waits for."""

    def __init__(self, plan: Plan, done: Set[str]) -> None:
        self._widths = plan.lanes
        seconds = tails(plan)
        self._rank = {step.id: (-seconds[step.id], place) for place, step in enumerate(plan.steps)}
        self._missing: Counter[str] = Counter()
        """How many steps each step still waits for."""
        self._followers: dict[str, list[Step]] = {}
        self._ready: dict[tuple[str, ...], list[Step]] = {}
        """Steps that wait for nothing but their lanes, by those, in their order."""
        for step in plan.steps:
            if step.id in done:
                continue
            for need in set(step.needs) - done:
                self._missing[step.id] += 1
                self._followers.setdefault(need, []).append(step)
            if not self._missing[step.id]:
                self.put_back(step)

    def put_back(self, step: Step) -> None:
        """Let a step wait again that was taken and had no effect."""
        insort(self._ready.setdefault(step.lanes, []), step, key=self._order)

    def finished(self, step: Step) -> None:
        """Whoever waited only for this step may begin."""
        for follower in self._followers.pop(step.id, ()):
            self._missing[follower.id] -= 1
            if not self._missing[follower.id]:
                self.put_back(follower)

    def taken(self, room: int, busy: Counter[str]) -> list[Step]:
        """Steps that begin now, so many at most; their lanes are counted as busy."""
        found: list[Step] = []
        while len(found) < room:
            open_lanes = [lanes for lanes in self._ready if self._has_room(lanes, busy)]
            if not open_lanes:
                break
            lanes = min(open_lanes, key=lambda one: self._order(self._ready[one][0]))
            queue = self._ready[lanes]
            found.append(queue.pop(0))
            busy.update(lanes)
            if not queue:
                del self._ready[lanes]
        return found

    def _has_room(self, lanes: Iterable[str], busy: Counter[str]) -> bool:
        return all(busy[lane] < self._widths.get(lane, 1) for lane in lanes)

    def _order(self, step: Step) -> tuple[float, int]:
        return self._rank[step.id]
