"""Chains of lives: each dies at the first moment of a run at which none has died yet.

The next life goes on in the same world, gets past that moment, and dies at the one after it. So a
single world sees a kill right before every write of a run that nobody killed, right after every
one that went to another system, and at everything that only those do who go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance.fingerprint import difference, fingerprint
from tests.acceptance.invariants import Watch
from tests.acceptance.killed_runs import twice
from tests.acceptance.kills import is_over
from tests.acceptance.lab_log import done_with_effect
from tests.acceptance.process import Call, Process
from tests.acceptance.reference import Reference
from tests.acceptance.scene import Life, Scene

PLANS_EVERY = 12
"""So many lives go on with a run until one makes a new plan, which takes ten times as long."""
_SPARE = 100

_BOOKS = frozenset({"journal", "lock"})
"""Systems whose writes change nothing else: right after one is right before the next write."""
_TAKEN_BY_ALL = ("kubernetes PATCH /apis/coordination", "lock release")
"""Beginnings of what happens in many lives, and once more when all is done."""
_END, _AT_THE_END = "ended done", ", at the end"


@dataclass(frozen=True, order=True)
class Moment:
    """Right before or right after a write, by a name that it has in every life."""

    what: str
    nth: int
    """How many of its likes there are up to this one, in all lives together."""
    side: str

    @property
    def is_of_time(self) -> bool:
        """Whether a gate was waited for; whoever comes later may find it open."""
        return self.what.startswith("journal gate ") and self.what.endswith(" wait")

    def __str__(self) -> str:
        return f"{self.side} {self.what} ({self.nth})"


class Moments:
    """Names the points of lives that follow each other in one world."""

    def __init__(self) -> None:
        self._passed: Counter[str] = Counter()
        self._at_the_end = False

    def begin(self) -> None:
        """Another life begins."""
        self._at_the_end = False

    def name_of(self, side: str, call: Call) -> Moment | None:
        """The moment that a point is. None: nobody has to die there."""
        if not call.is_write:
            return None
        name = self._name(call)
        if side == "before":
            return Moment(name, self._passed[name] + 1, side)
        self._passed[name] += 1
        self._at_the_end = self._at_the_end or call.about == _END
        # The Lease is given back right before the lock.
        is_before_another = call.system in _BOOKS or name.endswith(_AT_THE_END)
        return None if is_before_another else Moment(name, self._passed[name], side)

    def _name(self, call: Call) -> str:
        name = f"{call.system} {call.about or call.what}"
        is_last = self._at_the_end and name.startswith(_TAKEN_BY_ALL)
        return f"{name}{_AT_THE_END}" if is_last else name


def moments_of(process: Process) -> list[Moment]:
    """Every moment of one life at which somebody has to die, in order.

    A gate that stays closed says so again and again, which is the same moment but for the time.
    """
    names = Moments()
    moments = [names.name_of(side, call) for side, call in process.points]
    return list(dict.fromkeys(_once(moment) for moment in moments if moment is not None))


def _once(moment: Moment) -> Moment:
    is_gate = moment.what.startswith("journal gate ")
    return Moment(moment.what, 1, moment.side) if is_gate else moment


@dataclass
class Chain:
    """Lives in one world, and where they died."""

    scene: Scene
    wanted: list[Moment]
    """Moments of a run that nobody killed."""
    is_strict: bool = False
    """Whether they die there only, and at nothing that comes of going on."""
    struck: dict[Moment, int] = field(default_factory=dict)
    """Where lives died, with their numbers."""
    lives: int = 0

    def __post_init__(self) -> None:
        self._known = frozenset(self.wanted)
        self._names = Moments()
        self._watch = Watch(self.scene)

    @property
    def missed(self) -> list[Moment]:
        """Moments at which nobody died."""
        return [moment for moment in self.wanted if moment not in self.struck]

    def live_through(self, plans_every: int) -> Iterator[str]:
        """Live until nobody dies any more, and tell what is wrong then.

        Every so many lives begin with a new plan, all others go on with the run. 0: they all do.
        """
        most = 3 * len(self.wanted) + _SPARE
        life = self._next(plans=True)
        while life.was_killed and self.lives < most:
            is_turn = plans_every > 0 and self.lives % plans_every == 0
            life = self._next(plans=is_turn or is_over(self.scene.kept))
        if not life.is_done:
            yield f"life {self.lives} ended with {life.why or life.process.points[-1]}"
        yield from self._watch.over(life)

    def _next(self, *, plans: bool) -> Life:
        self.lives += 1
        self._names.begin()
        process, watchers = Process(dies_if=self._dies), (self._watch,)
        if plans:
            return self.scene.apply(process, watchers=watchers)
        return self.scene.resume(process, watchers=watchers)

    def _dies(self, side: str, call: Call) -> bool:
        named = self._names.name_of(side, call)
        if named is None:
            return False
        moment = _once(named)
        if moment in self.struck or not self._is_meant(moment):
            return False
        self.struck[moment] = self.lives
        return True

    def _is_meant(self, moment: Moment) -> bool:
        if moment in self._known:
            return True
        return not self.is_strict and moment.nth == 1


@dataclass(frozen=True)
class Chained:
    """What became of worlds in which a run was killed at every moment."""

    moments: int
    lives: int
    missed: list[str]
    """Moments at which nobody died."""
    flaws: list[str]


def run_chain(make: Callable[[Path], Scene], whole: Reference, root: Path) -> Chained:
    """Kill a run at every moment that it has where nobody does.

    In a first world some lives begin with a new plan, which passes over what is true already. At
    those moments lives die in a second world, where all of them go on with the same run.
    """
    world = whole.scene(root / "whole").world
    once, end = done_with_effect(world), fingerprint(world)
    first = Chain(make(root / "first"), moments_of(whole.life.process))
    flaws = list(first.live_through(PLANS_EVERY))
    second = Chain(make(root / "second"), first.missed, is_strict=True)
    flaws += second.live_through(0)
    for name, chain in (("first", first), ("second", second)):
        flaws += twice(f"in the {name} world", chain.scene, once)
        flaws += difference(end, fingerprint(chain.scene.world))
    missed = [str(moment) for moment in second.missed if not moment.is_of_time]
    return Chained(len(first.wanted), first.lives + second.lives, missed, flaws)
