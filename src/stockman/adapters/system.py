"""`ports.Clock`, `ports.Timekeeper` and `ports.Entropy` of the operating system."""

from __future__ import annotations

import os
from datetime import UTC, datetime


class SystemClock:
    """`ports.Clock` by the system's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SystemTimekeeper(SystemClock):
    """`ports.Timekeeper` by the system's clock and the running event loop."""

    async def sleep(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)


class SystemEntropy:
    """`ports.Entropy` by the system's random number generator."""

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)
