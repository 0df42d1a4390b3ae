"""Repeats actions while another task of Proxmox VE has locked the same object."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable

from stockman.model.errors import Conflict, Locked
from stockman.steps.base import Action
from stockman.steps.ports import Ports

_FIRST_WAIT = 2.0
_LONGEST_WAIT = 30.0
_MAX_TOTAL_WAIT = 300.0
"""Seconds after which a lock is regarded as stale, or a backup takes too long."""


class RetryingAction(Action):
    """An action that is repeated while its object is locked.

    `attempt` is one execution; it is safe to repeat.
    """

    @abstractmethod
    async def attempt(self, ports: Ports) -> None:
        """Make the change."""

    async def run(self, ports: Ports) -> None:
        await retry_on_conflict(ports, lambda: self.attempt(ports))


async def retry_on_conflict(ports: Ports, attempt: Callable[[], Awaitable[None]]) -> None:
    """Call a function, and repeat it while the object is locked or was changed concurrently."""
    begun, wait = ports.clock.now(), _FIRST_WAIT
    while True:
        try:
            await attempt()
        except Conflict as error:
            late = (ports.clock.now() - begun).total_seconds() + wait > _MAX_TOTAL_WAIT
            if late or not (isinstance(error, Locked) or error.problem.code == "proxmox.changed"):
                raise
        else:
            return
        await ports.clock.sleep(wait)
        await ports.permit()
        wait = min(2 * wait, _LONGEST_WAIT)
