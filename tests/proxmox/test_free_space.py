"""Free space is what a host says is available."""

from __future__ import annotations

import asyncio

from stockman_lab.servers.port import SELDOM, WorldClock, WorldWire

from lab.tests.worlds import door
from stockman.model.errors import Unreachable
from stockman.model.names import HostName
from stockman.model.problem import Problem
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.free_space import with_free_space
from stockman.proxmox.storages import StorageState


async def _reserved(host: HostName) -> tuple[StorageState, ...]:
    """A host that reserves a quarter of `local`; the others do not answer."""
    if host != "pve1":
        raise Unreachable(Problem(code="test", what="no answer", why="", fix=""))
    state = StorageState(
        storage="local",  # type: ignore[arg-type]
        kind="dir",
        content=frozenset(),
        active=True,
        enabled=True,
        shared=False,
        size=100,
        used=20,
        free=55,
    )
    return (state,)


def test_reserved_space_is_not_free() -> None:
    api = door()
    pve = ProxmoxClient(WorldWire(api), WorldClock(api.world), SELDOM)

    async def story() -> dict[tuple[str, str], int | None]:
        resources = await with_free_space(pve, await pve.resources(), _reserved)
        return {(row.host, row.storage): row.room for row in resources.storages}

    room = asyncio.run(story())

    assert room["pve1", "local"] == 55
    assert room["pve2", "local"] is not None
    assert room["pve2", "local"] > 55
