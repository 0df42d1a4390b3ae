"""The door to factory and registry of a world."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx2
import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.images_port import memory_images
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.services import ImagesServer
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from stockman.talos.schematic import ImageSchematic, canonical_text

T = TypeVar("T")
ADDRESS = "127.66.0.5"
AGENT = canonical_text(ImageSchematic(extensions=("siderolabs/qemu-guest-agent",)))


def open_door(story: Callable[[httpx2.AsyncClient, World, list[str]], Awaitable[T]]) -> T:
    async def told() -> T:
        world, seen = World.new(), list[str]()
        images_door = ImagesServer(world, Pace(world, None), seen.append)
        port = await images_door.start(ADDRESS, 0)
        try:
            async with httpx2.AsyncClient(base_url=f"http://{ADDRESS}:{port}") as client:
                return await story(client, world, seen)
        finally:
            await images_door.stop()

    return asyncio.run(told())


def test_factory_and_registry_answer_on_one_address() -> None:
    async def story(client: httpx2.AsyncClient, world: World, seen: list[str]) -> list[int]:
        del world
        post = await client.post("/schematics", content=AGENT)
        name = f"/v2/nocloud-installer/{post.json()['id']}/manifests/v1.13.9"
        replies = [post, await client.head(name), await client.get("/v2/"), await client.get("/x")]
        assert seen[:2] == ["images POST /schematics", f"images HEAD {name}"]
        return [reply.status_code for reply in replies]

    assert open_door(story) == [201, 200, 200, 404]


def test_what_was_posted_stays_in_the_world() -> None:
    async def story(client: httpx2.AsyncClient, world: World, seen: list[str]) -> World:
        del seen
        await client.post("/schematics", content=AGENT)
        return world

    world = open_door(story)

    again = read_world(world_file(world.state))
    assert AGENT in again.factory.schematics.values()
    assert again.factory == world.state.factory


def test_a_delay_lets_time_of_the_world_pass() -> None:
    async def story(client: httpx2.AsyncClient, world: World, seen: list[str]) -> float:
        del seen
        world.faults.add(Fault(Point.FACTORY, Effect.DELAY, seconds=600))
        before = world.now
        assert (await client.get("/versions")).status_code == 200
        return world.now - before

    assert open_door(story) >= 600


def test_a_cut_connection_is_cut() -> None:
    async def story(client: httpx2.AsyncClient, world: World, seen: list[str]) -> None:
        del seen
        world.faults.add(Fault(Point.REGISTRY, Effect.CUT))
        with pytest.raises(httpx2.TransportError):
            await client.get("/v2/")

    open_door(story)


def test_whether_anybody_asks_changes_nothing_in_the_world() -> None:
    world, other = World.new(), World.new()

    asyncio.run(memory_images(world).versions())

    assert world.state == other.state
