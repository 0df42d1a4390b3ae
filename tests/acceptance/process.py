"""One life of the product: everything that it asks of others is counted, and it may be killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


class Killed(BaseException):
    """The process is gone."""


@dataclass(frozen=True)
class Call:
    """Something that was asked of another system."""

    system: str
    """`proxmox`, `talos`, `kubernetes`, `images`, `repo`, `secrets`, `tree`, `journal`, `lock`."""
    what: str
    is_write: bool
    about: str = ""
    """What it is called in every life, where `what` has a number of its own."""

    def __str__(self) -> str:
        return f"{self.system} {self.what}"


@dataclass
class Process:
    """Counts points: one before and one after every call. Whoever is dead asks nothing any more."""

    dies_at: int = 0
    """The number of a point, from 1. 0: never."""
    dies_when: str = ""
    """`before` or `after` and a part of a call, `after POST /nodes/neo/qemu`. Empty: never."""
    dies_if: Callable[[str, Call], bool] | None = None
    """Asked at every point with `before` or `after` and the call. None: nobody is."""
    passed: int = 0
    is_dead: bool = False
    calls: list[Call] = field(default_factory=list)
    points: list[tuple[str, Call]] = field(default_factory=list)
    """Every point with `before` or `after` and its call."""
    told_strangers: list[bytes] = field(default_factory=list)
    """Messages to machines whose certificate nobody verified: a TLS proxy reads them."""
    watchers: list[Callable[[int, str, Call], None]] = field(default_factory=list)
    """Told of every point before anybody dies at it."""

    def before(self, call: Call) -> None:
        self._point("before", call)
        self.calls.append(call)

    def after(self, call: Call) -> None:
        self._point("after", call)

    def _point(self, side: str, call: Call) -> None:
        if self.is_dead:
            raise Killed
        self.passed += 1
        self.points.append((side, call))
        for watcher in self.watchers:
            watcher(self.passed, side, call)
        if self.passed == self.dies_at or self._is_meant(side, call):
            self.is_dead = True
            raise Killed

    @property
    def writes(self) -> list[Call]:
        """Everything that was asked for and is not only a look."""
        return [call for call in self.calls if call.is_write]

    def _is_meant(self, side: str, call: Call) -> bool:
        when, _, part = self.dies_when.partition(" ")
        if when == side and part in str(call):
            return True
        return self.dies_if is not None and self.dies_if(side, call)
