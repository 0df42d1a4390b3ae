"""Looks at worlds of presets, through the port and without a wire."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Network

from stockman_lab.pve.access.identity import Caller
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.port import memory_proxmox
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.world import World

from stockman.app.init.from_proxmox import ProxmoxProposal, ProxmoxSource, propose_files_with_client
from stockman.app.proxmox import ProxmoxLogin, login_from_prompt
from stockman.planning.starter.draft import DraftOptions
from stockman.planning.starter.network import NetworkOptions
from stockman.planning.starter.observed import ApiConnection
from stockman.proxmox.client import ProxmoxClient

NETWORK = IPv4Network("127.66.0.0/16")
URL = "https://127.66.0.4:8006"
ROOT: ProxmoxLogin = login_from_prompt("root@pam!look", "hunter2")


def world(preset: str = "three-node", pve: str = "9.1") -> World:
    return preset_world(PresetOptions(preset=preset, network=NETWORK, profile=pve))


def door(world: World) -> MemoryClient:
    """Root, for meddling with a world."""
    return MemoryClient(world, next(iter(world.clusters)))


def errand(preset: str | None = None, network: NetworkOptions | None = None) -> ProxmoxSource:
    draft_options = DraftOptions(preset=preset, network=network or NetworkOptions())
    return ProxmoxSource(url=URL, asker=ROOT, options=draft_options)


def port(world: World, caller: Caller | None = None) -> ProxmoxClient:
    return memory_proxmox(world, next(iter(world.clusters)), caller)


def look(
    world: World, proxmox_source: ProxmoxSource | None = None, caller: Caller | None = None
) -> ProxmoxProposal:
    """What a look at a world comes to."""
    pve = port(world, caller)
    return asyncio.run(
        propose_files_with_client(pve, proxmox_source or errand(), ApiConnection(url=URL))
    )


def somebody(world: World, *rights: tuple[str, str]) -> Caller:
    """A user who has roles of these privileges, each on its path."""
    root = door(world)
    root.post("/access/users", userid="ada@pve")
    for number, (path, privileges) in enumerate(rights):
        role = f"Some{number}"
        root.post("/access/roles", roleid=role, privs=privileges)
        root.put("/access/acl", path=path, roles=role, users="ada@pve")
    return Caller("ada@pve")
