"""Time that passes when nobody has anything to do, and dice that fall the same way each time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, TypeVar

T = TypeVar("T")
MORNING = datetime(2026, 3, 1, 6, 0, tzinfo=UTC)


class _Jumping(selectors.DefaultSelector):
    """Waits for nobody: the time that a loop would wait has passed at once."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("everybody waits for ever")
        self.passed += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is simulated, for timeouts and timers as well."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.passed


def virtually(work: Coroutine[Any, Any, T]) -> T:
    """Run something in simulated time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


class LoopClock:
    """A `Timekeeper` by the time of the loop; `skew` seconds wrong."""

    def __init__(self, skew: float = 0.0) -> None:
        self.skew = skew

    def now(self) -> datetime:
        return MORNING + timedelta(seconds=asyncio.get_running_loop().time() + self.skew)

    async def sleep(self, seconds: float) -> None:
        until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(seconds, _wake, until)
        await until


def _wake(until: asyncio.Future[None]) -> None:
    if not until.done():
        until.set_result(None)


class JumpClock:
    """A `Timekeeper` on which sleeping takes no time: whoever sleeps moves it on for all."""

    def __init__(self) -> None:
        self.moment = MORNING

    def now(self) -> datetime:
        return self.moment

    def jump(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        self.jump(seconds)


class Dice:
    """`Entropy` from a seed."""

    def __init__(self, seed: object = 0) -> None:
        self._seed = seed
        self._count = 0

    def random_bytes(self, count: int) -> bytes:
        self._count += 1
        content = b""
        while len(content) < count:
            content += sha256(f"{self._seed}/{self._count}/{len(content)}".encode()).digest()
        return content[:count]

    def share(self) -> float:
        """Between 0 and 1."""
        return int.from_bytes(self.random_bytes(4), "big") / 2**32
