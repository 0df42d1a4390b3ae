"""What arrives at a machine: a call before anybody looked into it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Asked:
    """A call as it came in."""

    path: str
    """`/machine.MachineService/Version`."""
    pieces: AsyncIterator[bytes]
    """Messages of the caller, encoded."""
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was sent along, names in lower case."""
    roles: frozenset[str] = frozenset()
    """Those of the caller's certificate."""
    peer: str = ""
    """Address of the caller."""


async def single(piece: bytes) -> AsyncIterator[bytes]:
    """The messages of a caller who sends one."""
    yield piece
