"""Machines made by hand, served to real clients while a test runs."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from stockman_lab.servers.pace import Pace
from stockman_lab.servers.talos_servers import TalosServers
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.registry import Methods
from stockman_lab.talos.methods import state
from stockman_lab.world.world import World

from lab.tests.talos.api.pretended import client, cluster_authority
from lab.tests.talos.cosi.handmade import HandMadeLand

Asked = Callable[[Callable[[], None]], None]
"""Does something to the machines where they are served, and tells those who follow them."""


def resource_methods() -> Methods:
    """The service of resources, and the one method that clients ask for before it."""
    methods = Methods()
    service = "cosi.resource.State"
    methods.method(service, "Get")(state.get)
    methods.streamed(service, "List")(state.listed)
    methods.streamed(service, "Watch")(state.watch)

    @methods.method("machine.MachineService", "Version")
    def version(call: Call) -> dict[str, object]:
        tag = call.machine.version
        return {"version": {"tag": tag, "sha": "abc"}, "platform": {"name": "nocloud"}}

    return methods


@contextmanager
def served_land(land: HandMadeLand, scratch: Path) -> Iterator[Asked]:
    """The machines of a land, on port 50000 of their addresses."""
    today = datetime.now(UTC)  # noqa: TID251  # clients verify certificates by it
    land.now = float(int(today.timestamp()))
    for machine in land.machines:
        machine.today = today
    loop = asyncio.new_event_loop()
    ready, ending = threading.Event(), asyncio.Event()
    faces: list[TalosServers] = []

    async def serve() -> None:
        pace = Pace(World.new(), None)
        faces.append(TalosServers(land, pace, scratch, methods=resource_methods()))
        faces[0].reconcile()
        ready.set()
        await ending.wait()
        faces[0].stop()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*left, return_exceptions=True)
        await loop.shutdown_asyncgens()

    def asked(change: Callable[[], None]) -> None:
        def done() -> None:
            change()
            faces[0].happened()

        loop.call_soon_threadsafe(done)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(20)
        yield asked
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()


def talosconfig(endpoint: str, role: str = "os:admin") -> str:
    """A client's file for one endpoint."""
    start = datetime.now(UTC) - timedelta(hours=1)  # noqa: TID251  # as above
    who = client(start, role)

    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    return f"""context: lab
contexts:
  lab:
    endpoints: [{endpoint}]
    nodes: [{endpoint}]
    ca: {encoded(cluster_authority().crt)}
    crt: {encoded(who.crt)}
    key: {encoded(who.key.reveal())}
"""
