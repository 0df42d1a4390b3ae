"""Backends that the contract of `ports.Images` is run on.

A backend is a function that runs a story and returns its result. It opens a fresh world
for each story; the story may break that world. Another backend is one more line in `BACKENDS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.images_port import memory_images
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ImagesServer
from stockman_lab.world.world import World

from stockman.adapters.images import HttpImages
from stockman.ports.images import ImageSource

T = TypeVar("T")
ADDRESS = "127.0.0.1"


@dataclass
class Scene:
    """What a story uses."""

    images: ImageSource
    world: World
    host: str
    """Of the registry, as references spell it."""
    url: str
    """Of the factory."""

    def let(self, point: Point, effect: Effect, **more: object) -> None:
        """Let something go wrong from now on."""
        self.world.faults.add(Fault(point, effect, **more))  # type: ignore[arg-type]


class Backend(Protocol):
    """Runs a story in a fresh world."""

    def __call__(self, story: Callable[[Scene], Awaitable[T]]) -> T: ...


def memory(story: Callable[[Scene], Awaitable[T]]) -> T:
    """The world itself, without a wire."""

    async def play() -> T:
        world = World.new()
        return await story(
            Scene(memory_images(world), world, "factory.test", "https://factory.test")
        )

    return asyncio.run(play())


def lab(story: Callable[[Scene], Awaitable[T]]) -> T:
    """`HttpImages`, with a lab behind it that answers over HTTP."""

    async def play() -> T:
        world = World.new()
        backend = ImagesServer(world, Pace(world, None))
        host = f"{ADDRESS}:{await backend.start(ADDRESS, 0)}"
        try:
            async with HttpImages(f"http://{host}", seconds=20, silence=20) as images:
                return await story(Scene(images, world, host, f"http://{host}"))
        finally:
            await backend.stop()

    return asyncio.run(play())


BACKENDS: dict[str, Backend] = {"memory": memory, "lab": lab}
