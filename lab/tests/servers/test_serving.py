"""Hosts answer over TLS on their own addresses, and time goes on as it should."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.listener import PortTaken
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.worlds import NAME, small_world

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
Step = Callable[["Client"], Any]


class Client:
    """Asks one host with a token of root."""

    def __init__(self, serving: Serving, secret: str, host: str) -> None:
        place = next(one for one in serving.hosts.places if one.host == host)
        authority = serving.hosts.authority(serving.world.clusters[NAME])
        context = ssl.create_default_context(cadata=authority.certificate.pem)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        self._connection = http.client.HTTPSConnection(
            place.address, place.port, context=context, timeout=20
        )
        self._headers = {"Authorization": f"PVEAPIToken=root@pam!lab={secret}"}

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str, Any]:
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, f"/api2/json{path}", body, headers)
        reply = self._connection.getresponse()
        text = reply.read()
        return reply.status, reply.reason, json.loads(text) if text else None

    def raw(self, method: str, target: str) -> int:
        self._connection.request(method, target, headers=self._headers)
        reply = self._connection.getresponse()
        reply.read()
        return reply.status

    def close(self) -> None:
        self._connection.close()


def served(tmp_path: Path, world: World, steps: Step, manner: ServingOptions | None = None) -> Any:
    """What the steps return; they run in a thread beside the loop that serves."""

    async def run() -> Any:
        serving = Serving(world, manner or ServingOptions(port=0), tmp_path, NOON)
        await serving.start()
        post = MemoryClient(world, NAME).post("/access/users/root@pam/token/lab", privsep=0)
        assert isinstance(post, dict)
        try:
            client = Client(serving, str(post["value"]), "pve1")
            try:
                return await asyncio.get_running_loop().run_in_executor(None, steps, client)
            finally:
                client.close()
        finally:
            await serving.stop()

    return asyncio.run(run())


def test_a_host_answers_with_the_certificate_of_its_authority(tmp_path: Path) -> None:
    status, reason, body = served(tmp_path, small_world(), lambda one: one.ask("GET", "/version"))
    assert (status, reason) == (200, "OK")
    assert body["data"]["release"] == "9.1"


def test_errors_are_told_in_the_status_line(tmp_path: Path) -> None:
    result = served(tmp_path, small_world(), lambda one: one.ask("GET", "/nodes/nowhere/tasks"))
    assert result[0] == 500
    assert result[1].startswith("hostname lookup 'nowhere' failed")


def test_forms_are_read_and_connections_used_again(tmp_path: Path) -> None:
    def steps(client: Client) -> Any:
        client.ask("POST", "/access/groups", "groupid=shepherds&comment=they%20watch")
        return client.ask("GET", "/access/groups/shepherds")

    status, _, body = served(tmp_path, small_world(), steps)
    assert (status, body["data"]["comment"]) == (200, "they watch")


def test_a_damaged_answer_is_no_json(tmp_path: Path) -> None:
    world = small_world()
    world.faults.add(Fault(Point.REQUEST, Effect.CORRUPT, {"path": "/version"}))
    with pytest.raises(json.JSONDecodeError):
        served(tmp_path, world, lambda one: one.ask("GET", "/version"))


def test_a_cut_connection_gives_no_answer(tmp_path: Path) -> None:
    world = small_world()
    world.faults.add(Fault(Point.REQUEST, Effect.CUT, {"path": "/version"}))
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        served(tmp_path, world, lambda one: one.ask("GET", "/version"))


def test_a_host_without_power_does_not_answer(tmp_path: Path) -> None:
    world = small_world()
    world.clusters[NAME].state.hosts["pve1"].has_power = False
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        served(tmp_path, world, lambda one: one.ask("GET", "/version"))


def test_a_delay_costs_nothing_at_the_highest_speed(tmp_path: Path) -> None:
    world = small_world()
    world.faults.add(Fault(Point.REQUEST, Effect.DELAY, {"path": "/version"}, seconds=3600))
    before = world.now
    status, _, _ = served(tmp_path, world, lambda one: one.ask("GET", "/version"))
    assert status == 200
    assert before + 3600 <= world.now < before + 3660


def test_time_passes_inside_while_it_passes_outside(tmp_path: Path) -> None:
    world = small_world()
    before = world.now

    def steps(client: Client) -> Any:
        for _ in range(50):
            client.ask("GET", "/version")

    served(tmp_path, world, steps)
    assert before < world.now < before + 60


def test_time_passes_many_times_as_fast(tmp_path: Path) -> None:
    world = small_world()
    world.faults.add(Fault(Point.REQUEST, Effect.DELAY, {"path": "/version"}, seconds=3600))
    before = world.now
    manner = ServingOptions(speed=100_000.0, port=0)
    status, _, _ = served(tmp_path, world, lambda one: one.ask("GET", "/version"), manner)
    assert status == 200
    assert world.now >= before + 3600


def test_a_port_that_is_taken_is_told_and_nothing_stays_open(tmp_path: Path) -> None:
    async def run() -> None:
        first = Serving(small_world(), ServingOptions(port=0), tmp_path, NOON)
        await first.start()
        port = first.hosts.places[0].port
        second = Serving(small_world(), ServingOptions(port=port), tmp_path, NOON)
        try:
            with pytest.raises(PortTaken, match=f"127.66.0.11:{port}"):
                await second.start()
        finally:
            await first.stop()

    asyncio.run(run())


def test_certificates_are_made_once(tmp_path: Path) -> None:
    world = small_world()
    served(tmp_path, world, lambda one: one.ask("GET", "/version"))
    before = world.state.clusters[NAME].certificates["pve1"].pem
    world.clusters[NAME].state.access.users["root@pam"].tokens.clear()
    served(tmp_path, world, lambda one: one.ask("GET", "/version"))
    assert world.state.clusters[NAME].certificates["pve1"].pem == before


def test_slashes_too_many_do_no_harm(tmp_path: Path) -> None:
    def steps(client: Client) -> Any:
        return client.raw("GET", "//api2/json//version/")

    assert served(tmp_path, small_world(), steps) == 200


def test_paths_are_decoded_once(tmp_path: Path) -> None:
    def steps(client: Client) -> Any:
        return client.ask("GET", "/access/users/ada%2540home%40pve")[1]

    assert served(tmp_path, small_world(), steps) == "no such user ('ada%40home@pve')"


def test_hosts_keep_their_order_in_a_world_that_was_loaded() -> None:
    world = small_world()
    hosts = world.state.clusters[NAME].hosts
    world.state.clusters[NAME].hosts = dict(reversed(hosts.items()))
    again = read_world(world_file(world.state))
    assert list(again.clusters[NAME].hosts) == ["pve3", "pve2", "pve1"]
