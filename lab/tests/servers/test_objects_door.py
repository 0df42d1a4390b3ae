"""Object storage and git repositories are served beside the hosts of a world."""

from __future__ import annotations

import asyncio
import http.client
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.listener import PortTaken
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.objects.signing import Ask, Signer

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
ADDRESS = "127.0.0.1"


def world() -> World:
    made = World.new()
    made.state.objects_address = ADDRESS
    return made


def asked(serving: Serving, ask: Ask) -> tuple[int, bytes]:
    assert serving.services.objects_place is not None
    host = "{}:{}".format(*serving.services.objects_place)
    key = serving.services.objects_key()
    connection = http.client.HTTPConnection(host, timeout=20)
    headers = Signer(key.id, key.secret, host).headers(ask, NOON)
    connection.request(ask.method, ask.target, ask.body or None, headers)
    reply = connection.getresponse()
    statuses = reply.status, reply.read()
    connection.close()
    return statuses


def served(tmp_path: Path, world: World, *asks: Ask, **manner: int | None) -> list[int]:
    async def told() -> list[int]:
        serving = Serving(world, ServingOptions(objects_port=0, **manner), tmp_path, NOON)  # type: ignore[arg-type]
        await serving.start()
        try:
            return [(await asyncio.to_thread(asked, serving, ask))[0] for ask in asks]
        finally:
            await serving.stop()

    return asyncio.run(told())


PUT = (Ask("PUT", "/flock"), Ask("PUT", "/flock/a", {}, {}, b"wool" * 100_000))
GET = Ask("GET", "/flock/a")


def test_clients_sign_by_the_time_outside_whatever_time_it_is_inside(tmp_path: Path) -> None:
    made = world()
    assert served(tmp_path, made, *PUT, GET) == [200, 200, 200]
    made.advance(10 * 86_400)
    assert served(tmp_path, made, GET) == [200]


def test_what_is_stored_is_saved_with_the_world(tmp_path: Path) -> None:
    made = world()
    served(tmp_path, made, *PUT)
    again = World(read_world(world_file(made.state)))
    assert served(tmp_path, again, GET) == [200]


def test_a_late_answer_lets_time_pass(tmp_path: Path) -> None:
    made = world()
    before = made.now
    made.faults.add(Fault(Point.OBJECTS, Effect.DELAY, seconds=500))
    assert served(tmp_path, made, *PUT) == [200, 200]
    assert made.now >= before + 500


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        serving_world = world()

        async def told() -> None:
            serving = Serving(serving_world, ServingOptions(objects_port=port), tmp_path, NOON)
            await serving.start()

        with pytest.raises(PortTaken):
            asyncio.run(told())


def test_nobody_serves_what_is_not_asked_for(tmp_path: Path) -> None:
    async def told() -> tuple[object, object]:
        serving = Serving(world(), ServingOptions(), tmp_path, NOON)
        await serving.start()
        try:
            return serving.services.objects_place, serving.services.git_place
        finally:
            await serving.stop()

    assert asyncio.run(told()) == (None, None)


def test_repositories_are_served_by_the_urls_that_files_name(tmp_path: Path) -> None:
    made = world()
    made.state.repositories["https://git.test/home.git"] = str(tmp_path / "home.git")

    async def told() -> int:
        serving = Serving(made, ServingOptions(git_port=0), tmp_path, NOON)
        await serving.start()
        try:
            assert serving.services.git_place is not None
            host = "{}:{}".format(*serving.services.git_place)

            def status() -> int:
                connection = http.client.HTTPConnection(host, timeout=20)
                connection.request("GET", "/git.test/home.git/info/refs?service=git-upload-pack")
                status = connection.getresponse().status
                connection.close()
                return status

            return await asyncio.to_thread(status)
        finally:
            await serving.stop()

    assert asyncio.run(told()) == 200
    assert (tmp_path / "home.git" / "HEAD").exists()
