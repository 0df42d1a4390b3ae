"""The lock between operators: one run at a time works on a cluster.

Where it lives is fixed in the configuration, so that nobody looks in another place. A home that
cannot be read refuses the run.
"""

from __future__ import annotations

from typing import Protocol

from stockman.model.record import record


@record
class Holder:
    """Who wants the lock, or has it."""

    name: str
    """For people: `anna@workbench, process 4711`."""
    run: str
    """The run that it is for."""
    nonce: str
    """Random: nobody else has it."""


class Tenure(Protocol):
    """The time during which we hold the lock."""

    @property
    def token(self) -> int:
        """The fencing token: larger than that of everybody who held the lock before."""
        ...

    async def check(self) -> None:
        """Return if the lock is certainly ours; called before every effect.

        `Refused` (`lock.lost`) where it is somebody else's; `Unreachable` where nobody can tell
        right now, which may be asked again.
        """
        ...

    async def renew(self) -> None:
        """Say that we are still there; `Refused` where the lock is somebody else's."""
        ...

    async def release(self) -> None:
        """Give the lock back; one that is not ours any more is left alone."""
        ...


class LockHome(Protocol):
    """The place of a cluster's lock."""

    async def acquire(self, holder: Holder) -> Tenure:
        """Take the lock. `Locked` where somebody has it, `Refused` where nobody can tell."""
        ...

    async def held_by(self) -> str:
        """Who has the lock now, for people; nothing is taken. Empty: nobody.

        `Refused` where nobody can tell.
        """
        ...
