"""Object storage that is served by a thread, for tests that know nothing of event loops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.objects.state import Bucket, first_key
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ObjectsServer
from stockman_lab.world.world import World

T = TypeVar("T")
_ADDRESS = "127.0.0.1"
_PATIENCE = 60.0


@dataclass(slots=True)
class S3Lab:
    """A running storage: where it answers, who may ask, and how to steer it."""

    endpoint: str
    """`http://127.0.0.1:PORT`; buckets are in the path."""
    access_key: str
    secret_key: str
    region: str
    bucket: str
    """One that is there already, empty."""
    world: World
    """What is simulated; look at it as you like, change it through `run`."""
    run: Callable[[Callable[[], object]], object]
    """Carries a function out where the world is served, so that nothing else happens meanwhile."""

    def fault(  # noqa: PLR0913  # what a fault can be told, each by its name
        self,
        effect: str,
        *,
        times: int | None = 1,
        skip: int = 0,
        seconds: float = 0.0,
        message: str = "",
        status: int = 0,
        **match: str,
    ) -> int:
        """Let something go wrong where the facts that are named fit; returns its number."""
        fault = Fault(
            Point.OBJECTS,
            Effect(effect),
            match,
            message=message,
            status=status,
            seconds=seconds,
            times=times,
            skip=skip,
        )
        self.run(lambda: self.world.faults.add(fault))
        return fault.number

    def take_back(self, number: int) -> None:
        """End a fault."""
        self.run(lambda: self.world.faults.remove(number))


class StorageThread:
    """Serves the object storage of a world until it is stopped."""

    def __init__(self, world: World, now: Callable[[], datetime], bucket: str) -> None:
        self._world = world
        self._now = now
        self._bucket = bucket
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._started: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> S3Lab:
        """Open the door; raises what keeps it shut."""
        state = self._world.state.objects
        key = first_key(state, self._world.state.dice.seed)
        state.buckets.setdefault(self._bucket, Bucket(self._world.now))
        self._thread.start()
        port = self._started.result(_PATIENCE)
        return S3Lab(
            endpoint=f"http://{_ADDRESS}:{port}",
            access_key=key.id,
            secret_key=key.secret,
            region=state.region,
            bucket=self._bucket,
            world=self._world,
            run=self.run,
        )

    def stop(self) -> None:
        """Close the door."""
        if self._loop is not None and self._ending is not None:
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(_PATIENCE)

    def run(self, work: Callable[[], T]) -> T:
        """Carry something out in the thread that serves the world."""
        if self._loop is None:
            raise RuntimeError("the lab is not running")
        done: Future[T] = Future()

        def carry_out() -> None:
            try:
                done.set_result(work())
            except Exception as error:  # noqa: BLE001  # raised again where it was asked for
                done.set_exception(error)

        self._loop.call_soon_threadsafe(carry_out)
        return done.result(_PATIENCE)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        objects_door = ObjectsServer(self._world, Pace(self._world, None), self._now)
        try:
            port = await objects_door.start(_ADDRESS, 0)
        except OSError as error:
            self._started.set_exception(error)
            return
        self._started.set_result(port)
        await self._ending.wait()
        await objects_door.stop()
