"""Looks at worlds of presets, through the port and without a wire."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Network

from stockman.app.proxmox_credentials import Asker, typed_asker
from stockman.app.proxmox_start import Errand, Looked, looked_through
from stockman.lab.doors.memory import MemoryDoor
from stockman.lab.doors.port import memory_proxmox
from stockman.lab.pve.access.identity import Caller
from stockman.lab.world.preset import Wish, preset_world
from stockman.lab.world.world import World
from stockman.planning.starter.draft import DraftWish
from stockman.planning.starter.network_choice import NetworkWish
from stockman.planning.starter.reached import Reached
from stockman.proxmox.api import ApiProxmox

NETWORK = IPv4Network("127.66.0.0/16")
URL = "https://127.66.0.4:8006"
ROOT: Asker = typed_asker("root@pam!look", "hunter2")


def world(preset: str = "three-node", pve: str = "9.1") -> World:
    return preset_world(Wish(preset=preset, network=NETWORK, profile=pve))


def door(made: World) -> MemoryDoor:
    """Root, for meddling with a world."""
    return MemoryDoor(made, next(iter(made.clusters)))


def errand(preset: str | None = None, network: NetworkWish | None = None) -> Errand:
    wish = DraftWish(preset=preset, network=network or NetworkWish())
    return Errand(url=URL, asker=ROOT, wish=wish)


def port(made: World, caller: Caller | None = None) -> ApiProxmox:
    return memory_proxmox(made, next(iter(made.clusters)), caller)


def look(made: World, wanted: Errand | None = None, caller: Caller | None = None) -> Looked:
    """What a look at a world comes to."""
    pve = port(made, caller)
    return asyncio.run(looked_through(pve, wanted or errand(), Reached(url=URL)))


def somebody(made: World, *rights: tuple[str, str]) -> Caller:
    """A user who has roles of these privileges, each on its path."""
    root = door(made)
    root.post("/access/users", userid="ada@pve")
    for number, (path, privileges) in enumerate(rights):
        role = f"Some{number}"
        root.post("/access/roles", roleid=role, privs=privileges)
        root.put("/access/acl", path=path, roles=role, users="ada@pve")
    return Caller("ada@pve")
