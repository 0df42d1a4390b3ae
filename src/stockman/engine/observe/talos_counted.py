"""Calls of Talos machines that are counted, and not too many at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from stockman.model.errors import StockmanError
from stockman.ports.talos import Talos

T = TypeVar("T")


class Counts:
    """A door of which every call is counted; so many at most are under way at once."""

    def __init__(self, talos: Talos, at_once: int) -> None:
        self._talos = talos
        self._room = asyncio.Semaphore(at_once)
        self.counts: Counter[str] = Counter()

    @property
    def door(self) -> Talos:
        """The same door, counted; what it streams is not."""
        return cast("Talos", self)

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        method = getattr(self._talos, name)

        async def counted(*given: object, **named: object) -> object:
            async with self._room:
                self.counts[name] += 1
                return await method(*given, **named)

        return counted


class Facts:
    """Facts about one thing: what could be learnt, and why the rest could not."""

    def __init__(self) -> None:
        self.unknown: dict[str, str] = {}

    async def learn(self, name: str, call: Awaitable[T]) -> T | None:
        """What a call answers. None: it did not, and `unknown` says why."""
        try:
            return await call
        except StockmanError as no:
            self.unknown[name] = f"{no.problem.code}: {no.problem.why}"
            return None
