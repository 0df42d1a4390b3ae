"""The fence of a run: asked before every effect, and kept up while the run lasts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from stockman.engine.lease import ClusterLease
from stockman.engine.lock import Tenure
from stockman.model.errors import StockmanError, Uncertain, Unreachable

EVERY = 15.0
"""Seconds of real time between signs of life."""


class Fence:
    """The lock and, where there is one, the Lease of a run."""

    def __init__(self, tenure: Tenure, lease: ClusterLease | None = None) -> None:
        self._tenure = tenure
        self._lease = lease
        self._lost: StockmanError | None = None
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def under(self, lease: ClusterLease | None) -> AsyncIterator[Fence]:
        """The same lock with another Lease, which is given back after the block."""
        try:
            yield Fence(self._tenure, lease)
        finally:
            if lease is not None:
                with suppress(StockmanError):
                    await lease.release()

    @property
    def token(self) -> int:
        return self._tenure.token

    async def check(self) -> None:
        """Return if nobody else may work on the cluster; `Refused` for ever after it was lost."""
        async with self._turn:
            if self._lost is not None:
                raise self._lost
            try:
                await self._tenure.check()
                if self._lease is not None:
                    await self._lease.check()
            except (Unreachable, Uncertain):
                raise
            except StockmanError as no:
                self._lost = no
                raise

    @asynccontextmanager
    async def kept(self, every: float = EVERY) -> AsyncIterator[None]:
        """Give signs of life while the block runs, and give the lock back after it."""
        beat = asyncio.ensure_future(self._beat(every))
        try:
            yield
        finally:
            beat.cancel()
            with suppress(asyncio.CancelledError):
                await beat
            await self.release()

    async def release(self) -> None:
        """Give everything back."""
        async with self._turn:
            with suppress(StockmanError):
                if self._lease is not None:
                    await self._lease.release()
            with suppress(StockmanError):
                await self._tenure.release()

    async def _beat(self, every: float) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(every):
                    await asyncio.get_running_loop().create_future()
            # What goes wrong here goes wrong again before the next effect, and is told there.
            with suppress(StockmanError):
                await self._renew()

    async def _renew(self) -> None:
        async with self._turn:
            await self._tenure.renew()
