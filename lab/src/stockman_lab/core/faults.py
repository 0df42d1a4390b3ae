"""Faults: what goes wrong in the world, where, when and how often.

A point is a named place in the lab that asks whether a fault is due. What a fault does there is the
point's affair: `fail` answers with an error, `hang` never answers, and so on; what a point has no
use for is refused. Every fault has a number, so that it can be listed and taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase

from stockman_lab.core.points import Effect, Point
from stockman_lab.core.state import state

__all__ = ["Effect", "Fault", "Faults", "Point"]


@state
class Fault:
    """One thing that goes wrong."""

    point: Point
    effect: Effect
    match: dict[str, str] = field(default_factory=dict)
    """Facts and patterns (`*`, `?`, `[a-z]`) for them; all have to fit."""
    message: str = ""
    """Text of the error. Empty: the point's own."""
    status: int = 0
    """Status of an HTTP error. 0: the point's own."""
    seconds: float = 0.0
    """How long a delay is, how old a lie becomes, how late a host is killed."""
    since: float | None = None
    """Not before this moment of the world. None: from now on."""
    until: float | None = None
    """Not after it. None: for good."""
    skip: int = 0
    """How many fitting occasions are spared first."""
    times: int | None = 1
    """How often it strikes. None: always."""
    number: int = 0
    struck: int = 0
    felt: int = 0
    """How often somebody looked while it lasted, of faults that are not used up by striking."""

    def __post_init__(self) -> None:
        """Raise `ValueError` where it could never do what it says."""
        from stockman_lab.core.offered import refuse

        if self.point is Point.REQUEST and self.effect is Effect.LIE:
            self.match.setdefault("method", "GET")
        refuse(self.point, self.effect, self.match, seconds=self.seconds, skip=self.skip)

    def is_over(self, now: float) -> bool:
        """Whether it never strikes again."""
        spent = self.times is not None and self.struck >= self.times
        return spent or (self.until is not None and now > self.until)

    def has_begun(self, now: float) -> bool:
        """Whether its time has come."""
        return self.since is None or now >= self.since

    def fits_time(self, now: float) -> bool:
        """Whether its time has come, and is not over."""
        return self.has_begun(now) and not self.is_over(now)

    def fits(self, now: float, facts: Mapping[str, object]) -> bool:
        """Whether an occasion is one of those that are meant."""
        if not self.fits_time(now):
            return False
        return all(
            name in facts and fnmatchcase(str(facts[name]), pattern)
            for name, pattern in self.match.items()
        )


@state
class Faults:
    """All faults of a world."""

    listed: list[Fault] = field(default_factory=list)
    made: int = 0

    def add(self, fault: Fault) -> Fault:
        """Let something go wrong from now on."""
        self.made += 1
        fault.number = self.made
        self.listed.append(fault)
        return fault

    def remove(self, number: int) -> bool:
        """Take a fault back; returns whether there was one."""
        before = len(self.listed)
        self.listed = [one for one in self.listed if one.number != number]
        return len(self.listed) < before

    def due(self, point: Point, now: float, facts: Mapping[str, object]) -> Fault | None:
        """The first fault that strikes on this occasion; it is counted as struck."""
        for fault in self.listed:
            if fault.point is not point or not fault.fits(now, facts):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.struck += 1
            return fault
        return None

    def holds(self, point: Point, now: float, facts: Mapping[str, object]) -> Fault | None:
        """A fault that lasts, looked at without being used up."""
        for fault in self.listed:
            if fault.point is point and fault.fits(now, facts):
                fault.felt += 1
                return fault
        return None
