"""Requests and replies of the API, whatever door they come through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.api.call import Upload


class Outcome(Enum):
    """What becomes of a connection."""

    ANSWER = auto()
    HANG = auto()
    CUT = auto()
    CORRUPT = auto()


@dataclass(slots=True)
class ApiRequest:
    """What somebody wants of the API."""

    method: str
    path: str
    """Below the format: `/nodes/pve1/qemu`, percent-decoded."""
    params: dict[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in small letters."""
    upload: Upload | None = None
    caller: Caller | None = None
    """Who is known already. None: the headers have to say."""


@dataclass(slots=True)
class ApiReply:
    """What the API answers."""

    status: int
    reason: str
    body: dict[str, object] | None = None
    """None: nothing at all."""
    wait: float = 0.0
    """Seconds of the world to let pass before it is sent."""
    outcome: Outcome = Outcome.ANSWER


@dataclass(slots=True)
class Later:
    """A reply that is not known yet."""

    seconds: float | None
    """When it is: so many seconds of the world from now. None: when it comes from outside."""
    begin: Callable[[Callable[[object], None]], None] | None
    conclude: Callable[[object], ApiReply]


Outgoing: TypeAlias = ApiReply | Later
