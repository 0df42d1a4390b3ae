"""Leases: locks that their holder must renew."""

from __future__ import annotations

from datetime import datetime, timedelta

from stockman.model.record import record

RUN_LEASE_NAMESPACE = "kube-system"
RUN_LEASE_NAME = "stockman"
"""The Lease that a run of stockman holds while the cluster has an API."""


@record
class Lease:
    """A lease."""

    namespace: str
    name: str
    holder: str
    """Empty: not held."""
    seconds: int
    """Duration after the last renewal."""
    renewed: datetime | None
    """None: never."""
    acquired: datetime | None
    transitions: int
    """Number of changes of the holder."""
    version: str
    """The resourceVersion; updates with an older one fail."""

    def is_free(self, now: datetime, clock_skew: float = 0.0) -> bool:
        """Return whether nobody holds it; `clock_skew` seconds are added because clocks differ."""
        if not self.holder or self.renewed is None:
            return True
        return now >= self.renewed + timedelta(seconds=self.seconds + clock_skew)


@record
class LeaseRequest:
    """Parameters for acquiring a lease."""

    namespace: str
    name: str
    holder: str
    """The holder, unique for each process."""
    seconds: int = 15
    clock_skew: float = 5.0
    """Seconds after which an expired lease of another holder is taken: clocks may differ."""
