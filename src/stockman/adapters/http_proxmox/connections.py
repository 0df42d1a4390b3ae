"""Connections that are used again, each with a client of its own.

A client with many connections looks at all of them for every request, which takes as long as the
rest of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2

_MOST = 16


class Connections:
    """So many clients with one connection each; whoever finds none that is free waits."""

    def __init__(self, made: Callable[[], httpx2.AsyncClient]) -> None:
        self._made = made
        self._all: list[httpx2.AsyncClient] = []
        self._free: list[httpx2.AsyncClient] = []
        """The one that was used last is used next: its connection is the most likely to be open."""
        self._room = asyncio.Semaphore(_MOST)

    @asynccontextmanager
    async def one(self) -> AsyncIterator[httpx2.AsyncClient]:
        """A client that nobody else uses meanwhile."""
        async with self._room:
            client = self._free.pop() if self._free else self._another()
            try:
                yield client
            finally:
                self._free.append(client)

    async def close(self) -> None:
        """Close all of them."""
        for client in self._all:
            await client.aclose()

    def _another(self) -> httpx2.AsyncClient:
        client = self._made()
        self._all.append(client)
        return client
