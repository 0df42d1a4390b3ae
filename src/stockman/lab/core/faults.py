"""Faults: what goes wrong in the world, where, when and how often.

A point is a named place in the lab that asks whether a fault is due. What a fault does there is the
point's affair: `fail` answers with an error, `hang` never answers, and so on. Every fault has a
number, so that it can be listed and taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase


class Effect(Enum):
    """What a fault does."""

    FAIL = "fail"
    """Refuse with an error, and do nothing."""
    DO_THEN_FAIL = "do-then-fail"
    """Do what was asked for, and then claim that it failed."""
    CLAIM = "claim"
    """Do nothing, and claim that it worked."""
    DELAY = "delay"
    HANG = "hang"
    """Never come to an end."""
    CUT = "cut"
    """Close the connection before the answer."""
    DO_THEN_CUT = "do-then-cut"
    LIE = "lie"
    """Answer with what was true some time ago."""
    CORRUPT = "corrupt"
    """Damage what is delivered."""
    KILL = "kill"
    """Take the power from a host."""


class Point(Enum):
    """Where faults can strike, with the facts that a matcher can ask for."""

    REQUEST = "request"
    """An API request: cluster, host (that got it), node (that it names), method, path, user."""
    TASK = "task"
    """A worker: cluster, node, type, id (vmid or other), user."""
    ALLOCATE = "allocate"
    """New space on a storage: cluster, node, storage, vmid. `delay` keeps its lock that long."""
    DOWNLOAD = "download"
    """A download into a storage: cluster, node, storage, url, filename.

    `corrupt` changes a byte, and with the message `truncated` leaves half away; `lie` delivers what
    the URL led to when it was fetched first; `delay` is a slow server.
    """
    BOOT = "boot"
    """A guest that powers on: cluster, node, vmid, name."""
    SHUTDOWN = "shutdown"
    """A guest that is asked to shut down: cluster, node, vmid, name."""
    AGENT = "agent"
    """A question to a guest agent: cluster, node, vmid, command."""
    RESOURCES = "resources"
    """Rows of /cluster/resources: cluster."""
    AUTHENTICATE = "authenticate"
    """Credentials: cluster, host, user."""
    HOST = "host"
    """A host itself: cluster, node. `kill` takes its power at the time that is set."""
    QUORUM = "quorum"
    """Agreement of a cluster: cluster. `fail` makes it read-only."""
    SSH = "ssh"
    """A command over SSH: cluster, node, command."""


@dataclass
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
    """How long a delay is, how old a lie."""
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

    def fits(self, now: float, facts: Mapping[str, object]) -> bool:
        """Whether an occasion is one of those that are meant."""
        if self.since is not None and now < self.since:
            return False
        if self.until is not None and now > self.until:
            return False
        if self.times is not None and self.struck >= self.times:
            return False
        return all(
            name in facts and fnmatchcase(str(facts[name]), pattern)
            for name, pattern in self.match.items()
        )


@dataclass
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
        return next(
            (one for one in self.listed if one.point is point and one.fits(now, facts)), None
        )
