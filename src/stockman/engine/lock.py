"""The lock of a cluster: only one run at a time.

Its location is fixed in the configuration; there is no fallback if it cannot be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Container
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
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
    """The holder of the lock."""

    name: str
    """For messages: `anna@workbench, process 4711`."""
    run: str
    """The run that needs the lock."""
    nonce: str
    """A random text that identifies the holder."""


class HeldLock(Protocol):
    """A lock held by this process."""

    @property
    def token(self) -> int:
        """The fencing token: larger than those of all earlier holders."""
        ...

    async def check(self) -> None:
        """Check that this process holds the lock; called before every effect.

        Raises `Refused` (`lock.lost`) if another process holds it, and `Unreachable` if the lock
        cannot be read at the moment.
        """
        ...

    async def renew(self) -> None:
        """Renew the lock; raises `Refused` if another process holds it."""
        ...

    async def release(self) -> None:
        """Release the lock, unless another process holds it."""
        ...


class LockStore(Protocol):
    """Storage of the lock of a cluster."""

    async def acquire(self, holder: LockHolder) -> HeldLock:
        """Take the lock; raises `Locked` if it is held, and `Refused` if it cannot be read."""
        ...

    async def held_by(self) -> str:
        """Return the current holder of the lock, for messages. Empty: it is free.

        Raises `Refused` if the lock cannot be read.
        """
        ...


LEASE_SECONDS = 60
RunNames = Container[str]


class ClusterLease:
    """The Lease of one cluster; acquired as soon as its API responds."""

    def __init__(
        self,
        leases: LeaseCalls,
        clock: Clock,
        holder: LockHolder,
        list_runs: Callable[[], Awaitable[RunNames]],
    ) -> None:
        """`list_runs` lists the runs of the lock that this process holds.

        A Lease held for one of them is taken over: its holder has lost that lock, so it does
        nothing any more.
        """
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
        """None: not acquired yet."""
        self._next_attempt: datetime | None = None
        """When an API that did not respond is called again. None: it responds."""

    async def check(self) -> None:
        """Acquire or renew the Lease if due; raises `Refused` if another process holds it."""
        if self._lease is not None and not self._needs_renewal(self._lease):
            return
        if self._next_attempt is not None and self._clock.now() < self._next_attempt:
            return
        try:
            self._lease = await self._acquire()
            self._next_attempt = None
        except (Unreachable, NotFound):
            # A call to a dead address takes seconds, and there are several checks for each step.
            self._next_attempt = self._clock.now() + timedelta(seconds=LEASE_SECONDS / 2)
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
        """Release the Lease if the API responds and this process holds it."""
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
    """Return the run in the name of a holder."""
    return holder.rpartition("-")[0]


RENEW_INTERVAL = 15.0
"""Seconds of real time between renewals."""


class Fence:
    """The lock of a run, and the Lease if the cluster has an API."""

    def __init__(self, held_lock: HeldLock, lease: ClusterLease | None = None) -> None:
        self._held_lock = held_lock
        self._lease = lease
        self._lost: StockmanError | None = None
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def with_lease(self, lease: ClusterLease | None) -> AsyncIterator[Fence]:
        """Use the same lock with another Lease, which is released after the block."""
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
        """Check lock and Lease; once they are lost, every later check fails as well."""
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
        """Renew the lock regularly during the block, and release it afterwards."""
        renewals = asyncio.ensure_future(self._renew_regularly(interval))
        try:
            yield
        finally:
            renewals.cancel()
            with suppress(asyncio.CancelledError):
                await renewals
            await self.release()

    async def release(self) -> None:
        """Release Lease and lock."""
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
            # An error here occurs again at the check before the next effect, which reports it.
            with suppress(StockmanError):
                await self._renew()

    async def _renew(self) -> None:
        async with self._turn:
            await self._held_lock.renew()
