"""Backends that the contract of `ports.Proxmox` is run on.

A backend is a function that runs a story and returns its result. It opens a fresh world
for each story: cluster `lab` of Proxmox VE 9 with the hosts `pve1` and `pve2`, on each a storage
`local` (dir: iso, vztmpl, import) and `local-zfs` (zfspool: images, rootdir), the bridge `vmbr0`,
no guests, and a token that may do everything. Another backend is one more line in `BACKENDS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeVar

from stockman_lab.pve.access.state import Profile, fresh_access
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.host import GIB, Host, Pool
from stockman_lab.pve.storage import Storage
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.port import WorldClock, memory_proxmox
from stockman_lab.servers.serving import Serving
from stockman_lab.world.world import World

from stockman.adapters.proxmox.credentials import ApiToken
from stockman.adapters.proxmox.endpoint import Endpoints
from stockman.adapters.proxmox.transport import HttpProxmox
from stockman.model.secret import Secret
from stockman.ports.environment import Trust
from stockman.proxmox.client import ProxmoxClient
from tests.adapters.http_proxmox.scripted import ScriptedServer
from tests.adapters.http_proxmox.talking import talk
from tests.contract.proxmox.small_pve import SmallPve

T = TypeVar("T")
CLUSTER = "lab"


class Backend(Protocol):
    """Runs a story in a fresh world."""

    def __call__(self, story: Callable[[ProxmoxClient], Awaitable[T]]) -> T: ...


def scripted(story: Callable[[ProxmoxClient], Awaitable[T]]) -> T:
    """`HttpProxmox`, with a small scripted Proxmox VE behind it."""
    return talk(ScriptedServer(SmallPve()), story)


def memory(story: Callable[[ProxmoxClient], Awaitable[T]]) -> T:
    """The world itself, without a wire."""
    pve = memory_proxmox(world(), CLUSTER)

    async def play() -> T:
        return await story(pve)

    return asyncio.run(play())


def lab(story: Callable[[ProxmoxClient], Awaitable[T]]) -> T:
    """`HttpProxmox`, with a lab behind it that answers over TLS."""

    async def play(scratch: Path) -> T:
        made = world()
        serving = Serving(made, ServingOptions(port=0), scratch, datetime.now(UTC))  # noqa: TID251
        await serving.start()
        token = MemoryClient(made, CLUSTER).post("/access/users/root@pam/token/main", privsep=0)
        assert isinstance(token, dict)
        place = serving.hosts.places[0]
        ca = serving.hosts.authority(made.clusters[CLUSTER]).certificate.pem
        endpoints = Endpoints(
            urls=(f"https://{place.address}:{place.port}",), trust=Trust(ca=ca.encode())
        )
        credentials = ApiToken(id="root@pam!main", secret=Secret(str(token["value"])))
        try:
            async with HttpProxmox(endpoints, credentials, WorldClock(made)) as pve:
                return await story(pve)
        finally:
            await serving.stop()

    with TemporaryDirectory() as scratch:
        return asyncio.run(play(Path(scratch)))


def world() -> World:
    """What every door of the lab opens to."""
    made = World.new()
    state = ClusterState(
        name=CLUSTER,
        profile="9.1",
        access=fresh_access(Profile("9.1"), made.state.dice.random_bytes),
        storages={
            "local": Storage(
                "local", "dir", {"path": "/var/lib/vz", "content": "iso,vztmpl,import"}
            ),
            "local-zfs": Storage(
                "local-zfs",
                "zfspool",
                {"pool": "rpool/data", "content": "images,rootdir", "sparse": "1"},
            ),
        },
    )
    for number in (1, 2):
        name, address = f"pve{number}", f"127.66.0.{10 + number}"
        state.hosts[name] = Host(
            name=name,
            address=address,
            nodeid=number,
            booted_at=made.now - 1000,
            pools={
                "fs:/": Pool("fs:/", 100 * GIB, 5 * GIB),
                "zfs:rpool": Pool("zfs:rpool", 1000 * GIB),
            },
            interfaces={
                "eno1": {"type": "eth", "method": "manual", "exists": "1", "active": "1"},
                "vmbr0": {
                    "type": "bridge",
                    "method": "static",
                    "cidr": f"{address}/16",
                    "gateway": "127.66.0.1",
                    "bridge_ports": "eno1",
                    "bridge_vlan_aware": "1",
                    "autostart": "1",
                    "active": "1",
                },
            },
        )
    made.add_cluster(state)
    return made


BACKENDS: dict[str, Backend] = {"scripted": scripted, "memory": memory, "lab": lab}
