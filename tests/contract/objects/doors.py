"""Doors that the contract of `ports.Objects` is run on.

A door is a function that takes a story and returns what the story comes to. It opens a fresh
storage for each story. Another door is one more line in `DOORS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.doors.objects_port import ENDPOINT, memory_objects, world_credentials
from stockman_lab.doors.pace import Pace
from stockman_lab.doors.service_doors import ObjectsDoor
from stockman_lab.objects.state import Bucket
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
    """What a story plays in."""

    objects: ObjectStore
    other: Callable[[S3Location, S3Credentials], ObjectStore]
    """Somebody else who asks the same storage."""
    place: S3Location
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
        return self.other(self.place, replace(self.credentials, secret_key=CANARY))

    def elsewhere(self) -> ObjectStore:
        """Somebody who asks for a bucket that is not there."""
        return self.other(replace(self.place, bucket="nowhere"), self.credentials)


class Door(Protocol):
    """Opens a fresh storage and tells it a story."""

    def __call__(self, story: Callable[[Scene], Awaitable[T]]) -> T: ...


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  # what goes over a wire is signed by it


def fresh_world() -> World:
    world = World.new()
    world.state.objects.buckets["flock"] = Bucket(world.now)
    return world


def memory(story: Callable[[Scene], Awaitable[T]]) -> T:
    """The world itself, without a wire."""

    async def told() -> T:
        world = fresh_world()
        s3_location = S3Location(
            bucket="flock", endpoint=ENDPOINT, region="us-east-1", prefix=PREFIX
        )
        credentials = world_credentials(world)

        def other(place: S3Location, credentials: S3Credentials) -> ObjectStore:
            return memory_objects(world, place, credentials)

        return await story(
            Scene(other(s3_location, credentials), other, s3_location, credentials, world)
        )

    return asyncio.run(told())


def lab(story: Callable[[Scene], Awaitable[T]]) -> T:
    """`S3Objects`, with a lab behind it that answers over HTTP."""

    async def told() -> T:
        world = fresh_world()
        door = ObjectsDoor(world, Pace(world, None), now)
        url = f"http://{ADDRESS}:{await door.start(ADDRESS, 0)}"
        try:
            return await over_the_wire(url, world_credentials(world), story, world)
        finally:
            await door.stop()

    return asyncio.run(told())


async def over_the_wire(
    url: str,
    credentials: S3Credentials,
    story: Callable[[Scene], Awaitable[T]],
    world: World | None = None,
) -> T:
    """Tell a story to the storage at a URL, whose bucket `flock` is empty."""
    s3_location = S3Location(bucket="flock", endpoint=url, region="us-east-1", prefix=PREFIX)
    opened: list[S3Objects] = []

    def other(place: S3Location, credentials: S3Credentials) -> ObjectStore:
        opened.append(S3Objects(place, credentials, now, seconds=20))
        return opened[-1]

    try:
        return await story(
            Scene(other(s3_location, credentials), other, s3_location, credentials, world)
        )
    finally:
        for one in opened:
            await one.__aexit__(None, None, None)


async def pieces(*contents: bytes) -> AsyncIterator[bytes]:
    """Contents that come one after the other."""
    for content in contents:
        yield content


async def whole(objects: ObjectStore, key: str) -> bytes:
    """All bytes of an object."""
    return b"".join([piece async for piece in objects.read(key)])


DOORS: dict[str, Door] = {"memory": memory, "lab": lab}
