"""The lock between operators: one run at a time works on a cluster.

Where it lives is fixed in the configuration, so that nobody looks in another place. A home that
cannot be read refuses the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Container
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Protocol

from stockman.engine import problems
from stockman.kubernetes.calls.leases import LeaseCalls
from stockman.kubernetes.leases import (
    RUN_LEASE_NAME,
    RUN_LEASE_NAMESPACE,
    Lease,
    LeaseRequest,
)
from stockman.model.errors import Locked, NotFound, Refused, StockmanError, Uncertain, Unreachable
from stockman.model.record import record
from stockman.ports.system import Clock


@record
class LockHolder:
    """Who wants the lock, or has it."""

    name: str
    """For people: `anna@workbench, process 4711`."""
    run: str
    """The run that it is for."""
    nonce: str
    """Random: nobody else has it."""


class HeldLock(Protocol):
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


class LockStore(Protocol):
    """The place of a cluster's lock."""

    async def acquire(self, holder: LockHolder) -> HeldLock:
        """Take the lock. `Locked` where somebody has it, `Refused` where nobody can tell."""
        ...

    async def held_by(self) -> str:
        """Who has the lock now, for people; nothing is taken. Empty: nobody.

        `Refused` where nobody can tell.
        """
        ...


LEASE_SECONDS = 60
RunNames = Container[str]


class ClusterLease:
    """The Lease of one cluster, ours from the first moment that the API answers."""

    def __init__(
        self,
        leases: LeaseCalls,
        clock: Clock,
        holder: LockHolder,
        list_runs: Callable[[], Awaitable[RunNames]],
    ) -> None:
        """`home` names the runs whose lock is the one that we hold: whoever had the Lease for one
        of them lost that lock before we got it, is most likely dead, and does nothing any more."""
        self._leases = leases
        self._list_runs = list_runs
        self._clock = clock
        self._request = LeaseRequest(
            namespace=RUN_LEASE_NAMESPACE,
            name=RUN_LEASE_NAME,
            holder=f"{holder.run}-{holder.nonce}",
            seconds=LEASE_SECONDS,
        )
        self._lease: Lease | None = None
        """None: not taken yet."""

    async def check(self) -> None:
        """Return unless somebody else holds it; takes or renews it where that is due."""
        if self._lease is not None and not self._needs_renewal(self._lease):
            return
        try:
            self._lease = await self._acquire()
        except (Unreachable, NotFound):
            return
        except Locked as error:
            location = f"Lease {RUN_LEASE_NAMESPACE}/{RUN_LEASE_NAME}"
            raise Refused(problems.lock_lost(location, error.problem.why)) from None

    async def _acquire(self) -> Lease:
        try:
            return await self._leases.acquire_lease(self._request)
        except Locked:
            lease = await self._leases.lease(RUN_LEASE_NAMESPACE, RUN_LEASE_NAME)
            is_abandoned = (
                self._lease is None and _run_of_holder(lease.holder) in await self._list_runs()
            )
            if not is_abandoned:
                raise
        await self._leases.release_lease(lease)
        return await self._leases.acquire_lease(self._request)

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

    def _needs_renewal(self, lease: Lease) -> bool:
        if lease.renewed is None:
            return True
        return self._clock.now() >= lease.renewed + timedelta(seconds=LEASE_SECONDS / 2)


def _run_of_holder(holder: str) -> str:
    """The run that a holder worked on."""
    return holder.rpartition("-")[0]


RENEW_INTERVAL = 15.0
"""Seconds of real time between signs of life."""


class Fence:
    """The lock and, where there is one, the Lease of a run."""

    def __init__(self, held_lock: HeldLock, lease: ClusterLease | None = None) -> None:
        self._held_lock = held_lock
        self._lease = lease
        self._lost: StockmanError | None = None
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def with_lease(self, lease: ClusterLease | None) -> AsyncIterator[Fence]:
        """The same lock with another Lease, which is given back after the block."""
        try:
            yield Fence(self._held_lock, lease)
        finally:
            if lease is not None:
                with suppress(StockmanError):
                    await lease.release()

    @property
    def token(self) -> int:
        return self._held_lock.token

    async def check(self) -> None:
        """Return if nobody else may work on the cluster; `Refused` for ever after it was lost."""
        async with self._turn:
            if self._lost is not None:
                raise self._lost
            try:
                await self._held_lock.check()
                if self._lease is not None:
                    await self._lease.check()
            except (Unreachable, Uncertain):
                raise
            except StockmanError as error:
                self._lost = error
                raise

    @asynccontextmanager
    async def keep_alive(self, interval: float = RENEW_INTERVAL) -> AsyncIterator[None]:
        """Give signs of life while the block runs, and give the lock back after it."""
        renewals = asyncio.ensure_future(self._renew_regularly(interval))
        try:
            yield
        finally:
            renewals.cancel()
            with suppress(asyncio.CancelledError):
                await renewals
            await self.release()

    async def release(self) -> None:
        """Give everything back."""
        async with self._turn:
            with suppress(StockmanError):
                if self._lease is not None:
                    await self._lease.release()
            with suppress(StockmanError):
                await self._held_lock.release()

    async def _renew_regularly(self, interval: float) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(interval):
                    await asyncio.get_running_loop().create_future()
            # What goes wrong here goes wrong again before the next effect, and is told there.
            with suppress(StockmanError):
                await self._renew()

    async def _renew(self) -> None:
        async with self._turn:
            await self._held_lock.renew()
