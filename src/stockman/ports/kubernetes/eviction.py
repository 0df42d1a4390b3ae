"""Evictions: pods that go as far as their disruption budgets let them."""

from __future__ import annotations

from typing import Protocol

from stockman.model.record import record


@record
class Evicted:
    """The pod goes."""


@record
class Blocked:
    """A disruption budget keeps the pod for now."""

    budget: str
    """Its name. Empty: the server does not tell."""
    why: str
    retry_after: float | None = None
    """Seconds that the server asks for. None: it does not say."""


@record
class Eviction:
    """How a pod is evicted."""

    uid: str = ""
    """Only if it is this one, otherwise `Conflict`. Empty: whichever has the name."""
    grace: int | None = None
    """Seconds. None: as the pod says."""
    dry_run: bool = False


class Evictions(Protocol):
    """Pods, asked to go."""

    async def evict(
        self, namespace: str, name: str, how: Eviction | None = None
    ) -> Evicted | Blocked:
        """Let a pod go, if its budget allows it. `Busy` is about the server, not about budgets."""
        ...
