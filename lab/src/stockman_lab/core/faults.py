"""Faults: what goes wrong in the world, where, when and how often.

A point is a named place in the lab that asks whether a fault is due. What a fault does there is the
point's affair: `fail` answers with an error, `hang` never answers, and so on; what a point has no
use for is refused. Every fault has a number, so that it can be listed and taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase

from stockman_lab.core.points import Effect, Point
from stockman_lab.core.state import state

_ALL = frozenset(Effect)
_FAILS = frozenset({Effect.FAIL, Effect.DO_THEN_FAIL, Effect.DELAY, Effect.HANG})
_MACHINE = ("cluster", "vmid", "name", "machine", "address", "version")

OFFERED: dict[Point, frozenset[Effect]] = {
    Point.REQUEST: _ALL,
    Point.TASK: _FAILS | {Effect.CLAIM, Effect.KILL},
    Point.ALLOCATE: _FAILS,
    Point.DOWNLOAD: _FAILS | {Effect.CLAIM, Effect.CUT, Effect.CORRUPT, Effect.LIE},
    Point.BOOT: _FAILS - {Effect.DO_THEN_FAIL},
    Point.SHUTDOWN: frozenset({Effect.DELAY, Effect.HANG}),
    Point.AGENT: _FAILS,
    Point.RESOURCES: frozenset({Effect.LIE}),
    Point.AUTHENTICATE: frozenset({Effect.FAIL}),
    Point.HOST: frozenset({Effect.KILL}),
    Point.QUORUM: frozenset({Effect.FAIL}),
    Point.SSH: _FAILS | {Effect.CLAIM, Effect.CUT, Effect.DO_THEN_CUT},
    Point.REGISTRY: _ALL,
    Point.FACTORY: _ALL,
    Point.OBJECTS: _ALL - {Effect.CLAIM},
    Point.TALOS_CALL: _ALL - {Effect.KILL},
    Point.TALOS_STEP: frozenset({Effect.FAIL, Effect.DELAY, Effect.HANG}),
    Point.NETWORK: frozenset({Effect.FAIL}),
    Point.LEASE: frozenset({Effect.FAIL, Effect.LIE}),
    Point.ETCD: frozenset({Effect.FAIL, Effect.HANG}),
    Point.CLOCK: frozenset({Effect.LIE}),
    Point.KUBERNETES: _FAILS | {Effect.CUT, Effect.DO_THEN_CUT, Effect.LIE},
    Point.POD: frozenset({Effect.FAIL, Effect.DELAY, Effect.HANG}),
    Point.NODE: frozenset({Effect.FAIL, Effect.HANG}),
}
"""Effects by the point that knows what to do with them."""

FACTS: dict[Point, tuple[str, ...]] = {
    Point.REQUEST: ("cluster", "host", "node", "vmid", "method", "path", "user"),
    Point.TASK: ("cluster", "node", "type", "id", "vmid", "user"),
    Point.ALLOCATE: ("cluster", "node", "storage", "vmid"),
    Point.DOWNLOAD: ("cluster", "node", "storage", "url", "filename"),
    Point.BOOT: ("cluster", "node", "vmid", "name"),
    Point.SHUTDOWN: ("cluster", "node", "vmid", "name"),
    Point.AGENT: ("cluster", "node", "vmid", "command"),
    Point.RESOURCES: ("cluster",),
    Point.AUTHENTICATE: ("cluster", "host", "user"),
    Point.HOST: ("cluster", "node", "host"),
    Point.QUORUM: ("cluster",),
    Point.SSH: ("cluster", "node", "command"),
    Point.REGISTRY: ("method", "path", "repository", "reference", "client"),
    Point.FACTORY: ("method", "path"),
    Point.OBJECTS: ("method", "bucket", "key", "operation"),
    Point.TALOS_CALL: (*_MACHINE, "service", "method", "role"),
    Point.TALOS_STEP: (*_MACHINE, "step", "sequence"),
    Point.NETWORK: _MACHINE,
    Point.LEASE: (*_MACHINE, "mac"),
    Point.ETCD: (*_MACHINE, "action"),
    Point.CLOCK: _MACHINE,
    Point.KUBERNETES: (
        *_MACHINE,
        *("method", "path", "resource", "namespace", "object", "verb", "user"),
    ),
    Point.POD: (*_MACHINE, "namespace", "pod", "image", "action"),
    Point.NODE: _MACHINE,
}
"""What is known at a point, and can be asked for."""

_STATES = frozenset(
    {
        Point.RESOURCES,
        Point.HOST,
        Point.QUORUM,
        Point.NETWORK,
        Point.CLOCK,
        Point.NODE,
    }
)
"""Points that are no occasions: nothing can be counted there."""


def refuse(
    point: Point, effect: Effect, match: Mapping[str, str], *, seconds: float, skip: int
) -> None:
    """Raise `ValueError` where a fault is one that could never do what it says."""
    for why in (*_wrong_effect(point, effect, seconds), *_wrong_occasion(point, match, skip)):
        raise ValueError(why)
    if point is Point.REQUEST and effect is Effect.LIE and match.get("method") != "GET":
        raise ValueError("a lie is what reads are answered with: `method` can only be `GET`")


def _wrong_effect(point: Point, effect: Effect, seconds: float) -> Iterator[str]:
    if effect not in OFFERED[point]:
        able = [one.value for one in Effect if one in OFFERED[point]]
        yield f"`{effect.value}` means nothing at `{point.value}`, which knows {_join_words(able)}"
    if effect is Effect.DELAY and seconds <= 0:
        yield "a delay without a length (`seconds`) delays nothing"
    if point is Point.OBJECTS and effect is Effect.LIE and not seconds:
        yield "how wrong its clock is has to be said (`seconds`)"
    if point is Point.RESOURCES and seconds <= 0:
        yield "how old rows of resources are has to be said (`seconds`)"


def _wrong_occasion(point: Point, match: Mapping[str, str], skip: int) -> Iterator[str]:
    unknown = sorted(set(match) - set(FACTS[point]))
    if unknown:
        yield (
            f"nothing at `{point.value}` is called {_join_words(unknown)};"
            f" what can be asked for is {_join_words(FACTS[point])}"
        )
    if skip and point in _STATES:
        yield f"`{point.value}` is no occasion that comes again, so none can be spared (`skip`)"


def _join_words(rows: tuple[str, ...] | list[str]) -> str:
    shown = [f"`{one}`" for one in rows]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


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
