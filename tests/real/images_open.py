"""Factory and registry of a world, served on a loopback address while a test runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ImagesServer
from stockman_lab.world.world import World

ADDRESS = "127.0.0.1"
_PATIENCE = 30.0


@contextmanager
def serve_images(world: World) -> Iterator[str]:
    """Open the door to a world's images; yields `host:port`."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    async def opened() -> tuple[ImagesServer, int]:
        door = ImagesServer(world, Pace(world, None))
        return door, await door.start(ADDRESS, 0)

    try:
        door, port = asyncio.run_coroutine_threadsafe(opened(), loop).result(_PATIENCE)
        yield f"{ADDRESS}:{port}"
        asyncio.run_coroutine_threadsafe(door.stop(), loop).result(_PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
