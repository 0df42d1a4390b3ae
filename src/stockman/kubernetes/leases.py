"""Leases: who may act right now, as long as they keep saying that they are there."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from stockman.model.record import record

RUN_LEASE_NAMESPACE = "kube-system"
RUN_LEASE_NAME = "stockman"
"""The Lease that a run of stockman holds while the cluster has an API."""


@record
class Lease:
    """A lease as it is."""

    namespace: str
    name: str
    holder: str
    """Empty: nobody."""
    seconds: int
    """How long it holds after it was renewed."""
    renewed: datetime | None
    """None: never."""
    acquired: datetime | None
    transitions: int
    """How often it went from one to another: grows with every new holder."""
    version: str
    """The resourceVersion: whoever writes with an older one is refused."""

    def is_free(self, now: datetime, spare: float = 0.0) -> bool:
        """Whether nobody holds it; `spare` seconds are waited longer, as clocks differ."""
        if not self.holder or self.renewed is None:
            return True
        return now >= self.renewed + timedelta(seconds=self.seconds + spare)


@record
class LeaseRequest:
    """A lease that is wanted."""

    namespace: str
    name: str
    holder: str
    """Who wants it; another one for each process."""
    seconds: int = 15
    spare: float = 5.0
    """Seconds that a lease of somebody else has to be over: clocks may differ so much."""


class Leases(Protocol):
    """Leases. What is written says which version it has seen, so that only one can be first."""

    async def lease(self, namespace: str, name: str) -> Lease:
        """A lease. `NotFound` where there is none."""
        ...

    async def acquire_lease(self, wish: LeaseRequest) -> Lease:
        """Take a lease that is free, or is ours. `Locked` where somebody holds it."""
        ...

    async def renew_lease(self, lease: Lease) -> Lease:
        """Say that we are still there. `Locked` where it was written since: it is not ours now."""
        ...

    async def release_lease(self, lease: Lease) -> Lease:
        """Give a lease back. `Locked` where it was written since: it is not ours now."""
        ...
