"""Identifiers of tasks: node, process, moment, type, object and user in one text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.pve.formats.format_error import FormatError

_UPID = re.compile(
    r"UPID:([a-zA-Z0-9](?:[a-zA-Z0-9\-]*[a-zA-Z0-9])?)"
    r":([0-9A-Fa-f]{8}):([0-9A-Fa-f]{8,9}):([0-9A-Fa-f]{8})"
    r":([^:\s/]+):([^:\s/]*):([^:\s/]+):"
)


@dataclass(frozen=True, slots=True)
class Upid:
    """One task."""

    node: str
    pid: int
    started_tick: int
    """When the process started, in ticks since the host did."""
    started_at: int
    """Seconds since 1970."""
    kind: str
    subject: str
    """What it works on, often nothing."""
    user: str
    """`user@realm` or `user@realm!token`."""

    @property
    def owner(self) -> str:
        """The user without the token."""
        return self.user.partition("!")[0]

    @property
    def token(self) -> str:
        """The token's name, or nothing."""
        return self.user.partition("!")[2]

    def __str__(self) -> str:
        return (
            f"UPID:{self.node}:{self.pid:08X}:{self.started_tick:08X}:{self.started_at:08X}"
            f":{self.kind}:{self.subject}:{self.user}:"
        )


def parse_upid(text: str) -> Upid:
    """The task that is meant; raises `FormatError`."""
    found = _UPID.fullmatch(text)
    if not found:
        raise FormatError(f"unable to parse worker upid '{text}'")
    node, pid, tick, at, kind, subject, user = found.groups()
    return Upid(node, int(pid, 16), int(tick, 16), int(at, 16), kind, subject, user)
