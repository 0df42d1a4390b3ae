"""Backends that the contract of `ports.Objects` is run on.

A backend is a function that runs a story and returns its result. It opens a fresh
storage for each story. Another backend is one more line in `BACKENDS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.objects.state import Bucket
from stockman_lab.servers.objects_port import ENDPOINT, memory_objects, world_credentials
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ObjectsServer
from stockman_lab.world.world import World

from stockman.adapters.s3 import S3Objects
from stockman.model.secret import Secret
from stockman.ports.objects import ObjectStore
from stockman.s3.credentials import S3Credentials
from stockman.s3.location import S3Location

T = TypeVar("T")
ADDRESS = "127.0.0.1"
CANARY = Secret("canary-that-must-not-sing", resolved=True)
PREFIX = "herd/one"


@dataclass
class Scene:
    """What a story uses."""

    objects: ObjectStore
    connect: Callable[[S3Location, S3Credentials], ObjectStore]
    """Somebody else who asks the same storage."""
    location: S3Location
    credentials: S3Credentials
    world: World | None = None
    """None: it is a real storage."""

    def let(self, effect: Effect, **more: object) -> None:
        """Let something go wrong from now on."""
        if self.world is None:
            raise RuntimeError("nothing can be made to go wrong in a real storage")
        self.world.faults.add(Fault(Point.OBJECTS, effect, **more))  # type: ignore[arg-type]

    def stranger(self) -> ObjectStore:
        """Somebody with a wrong key."""
        return self.connect(self.location, replace(self.credentials, secret_key=CANARY))

    def elsewhere(self) -> ObjectStore:
        """Somebody who asks for a bucket that is not there."""
        return self.connect(replace(self.location, bucket="nowhere"), self.credentials)


class Backend(Protocol):
    """Runs a story with a fresh storage."""

    def __call__(self, story: Callable[[Scene], Awaitable[T]]) -> T: ...


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  # what goes over a wire is signed by it


def fresh_world() -> World:
    world = World.new()
    world.state.objects.buckets["flock"] = Bucket(world.now)
    return world


def memory(story: Callable[[Scene], Awaitable[T]]) -> T:
    """The world itself, without a wire."""

    async def play() -> T:
        world = fresh_world()
        s3_location = S3Location(
            bucket="flock", endpoint=ENDPOINT, region="us-east-1", prefix=PREFIX
        )
        credentials = world_credentials(world)

        def connect(location: S3Location, credentials: S3Credentials) -> ObjectStore:
            return memory_objects(world, location, credentials)

        return await story(
            Scene(connect(s3_location, credentials), connect, s3_location, credentials, world)
        )

    return asyncio.run(play())


def lab(story: Callable[[Scene], Awaitable[T]]) -> T:
    """`S3Objects`, with a lab behind it that answers over HTTP."""

    async def play() -> T:
        world = fresh_world()
        backend = ObjectsServer(world, Pace(world, None), now)
        url = f"http://{ADDRESS}:{await backend.start(ADDRESS, 0)}"
        try:
            return await over_the_wire(url, world_credentials(world), story, world)
        finally:
            await backend.stop()

    return asyncio.run(play())


async def over_the_wire(
    url: str,
    credentials: S3Credentials,
    story: Callable[[Scene], Awaitable[T]],
    world: World | None = None,
) -> T:
    """Tell a story to the storage at a URL, whose bucket `flock` is empty."""
    s3_location = S3Location(bucket="flock", endpoint=url, region="us-east-1", prefix=PREFIX)
    opened: list[S3Objects] = []

    def connect(location: S3Location, credentials: S3Credentials) -> ObjectStore:
        opened.append(S3Objects(location, credentials, now, seconds=20))
        return opened[-1]

    try:
        return await story(
            Scene(connect(s3_location, credentials), connect, s3_location, credentials, world)
        )
    finally:
        for item in opened:
            await item.__aexit__(None, None, None)


async def pieces(*contents: bytes) -> AsyncIterator[bytes]:
    """Contents that come one after the other."""
    for content in contents:
        yield content


async def whole(objects: ObjectStore, key: str) -> bytes:
    """All bytes of an object."""
    return b"".join([piece async for piece in objects.read(key)])


BACKENDS: dict[str, Backend] = {"memory": memory, "lab": lab}
