"""Doors that the contract of `ports.Images` is run on.

A door is a function that takes a story and returns what the story comes to. It opens a fresh world
for each story; the story may break that world. Another door is one more line in `DOORS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.doors.images_port import memory_images
from stockman_lab.doors.pace import Pace
from stockman_lab.doors.service_doors import ImagesDoor
from stockman_lab.world.world import World

from stockman.adapters.images import HttpImages
from stockman.ports.images import ImageSource

T = TypeVar("T")
ADDRESS = "127.0.0.1"


@dataclass
class Scene:
    """What a story plays in."""

    images: ImageSource
    world: World
    host: str
    """Of the registry, as references spell it."""
    url: str
    """Of the factory."""

    def let(self, point: Point, effect: Effect, **more: object) -> None:
        """Let something go wrong from now on."""
        self.world.faults.add(Fault(point, effect, **more))  # type: ignore[arg-type]


class Door(Protocol):
    """Opens a fresh world and tells it a story."""

    def __call__(self, story: Callable[[Scene], Awaitable[T]]) -> T: ...


def memory(story: Callable[[Scene], Awaitable[T]]) -> T:
    """The world itself, without a wire."""

    async def told() -> T:
        world = World.new()
        return await story(
            Scene(memory_images(world), world, "factory.test", "https://factory.test")
        )

    return asyncio.run(told())


def lab(story: Callable[[Scene], Awaitable[T]]) -> T:
    """`HttpImages`, with a lab behind it that answers over HTTP."""

    async def told() -> T:
        world = World.new()
        door = ImagesDoor(world, Pace(world, None))
        host = f"{ADDRESS}:{await door.start(ADDRESS, 0)}"
        try:
            async with HttpImages(f"http://{host}", seconds=20, silence=20) as images:
                return await story(Scene(images, world, host, f"http://{host}"))
        finally:
            await door.stop()

    return asyncio.run(told())


DOORS: dict[str, Door] = {"memory": memory, "lab": lab}
