"""A Lease of Kubernetes, taken in addition to the lock once the cluster has an API.

It keeps apart those whose configuration names different homes of the lock, and shows to everybody
in the cluster who works on it. An API that does not answer is no reason to stop: it may not be
there yet, or this run may be restarting it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container
from datetime import timedelta

from stockman.engine import problems
from stockman.engine.lock import Holder
from stockman.model.errors import Locked, NotFound, Refused, Unreachable
from stockman.ports.clock import Clock
from stockman.ports.kubernetes.leases import (
    RUN_LEASE_NAME,
    RUN_LEASE_NAMESPACE,
    Lease,
    Leases,
    LeaseWish,
)

SECONDS = 60
Runs = Container[str]


class ClusterLease:
    """The Lease of one cluster, ours from the first moment that the API answers."""

    def __init__(
        self, leases: Leases, clock: Clock, holder: Holder, home: Callable[[], Awaitable[Runs]]
    ) -> None:
        """`home` names the runs whose lock is the one that we hold: whoever had the Lease for one
        of them lost that lock before we got it, is most likely dead, and does nothing any more."""
        self._leases = leases
        self._home = home
        self._clock = clock
        self._wish = LeaseWish(
            namespace=RUN_LEASE_NAMESPACE,
            name=RUN_LEASE_NAME,
            holder=f"{holder.run}-{holder.nonce}",
            seconds=SECONDS,
        )
        self._lease: Lease | None = None
        """None: not taken yet."""

    async def check(self) -> None:
        """Return unless somebody else holds it; takes or renews it where that is due."""
        if self._lease is not None and not self._is_worn(self._lease):
            return
        try:
            self._lease = await self._acquired()
        except (Unreachable, NotFound):
            return
        except Locked as no:
            place = f"Lease {RUN_LEASE_NAMESPACE}/{RUN_LEASE_NAME}"
            raise Refused(problems.lock_lost(place, no.problem.why)) from None

    async def _acquired(self) -> Lease:
        try:
            return await self._leases.acquire_lease(self._wish)
        except Locked:
            left = await self._leases.lease(RUN_LEASE_NAMESPACE, RUN_LEASE_NAME)
            is_left = self._lease is None and _run_of(left.holder) in await self._home()
            if not is_left:
                raise
        await self._leases.release_lease(left)
        return await self._leases.acquire_lease(self._wish)

    async def release(self) -> None:
        """Give it back, if it can be reached and is ours."""
        if self._lease is None:
            return
        try:
            await self._leases.release_lease(self._lease)
        except (Unreachable, NotFound, Locked):
            return
        finally:
            self._lease = None

    def _is_worn(self, lease: Lease) -> bool:
        if lease.renewed is None:
            return True
        return self._clock.now() >= lease.renewed + timedelta(seconds=SECONDS / 2)


def _run_of(holder: str) -> str:
    """The run that a holder worked on."""
    return holder.rpartition("-")[0]
