"""Clusters of the lab that run, with doors for whoever wants to adopt them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache

from stockman_lab.core.dice import Dice
from stockman_lab.pve.access.identity import Caller
from stockman_lab.servers.kube_port import memory_kubernetes
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.port import WorldClock, WorldWire
from stockman_lab.servers.talos_port import memory_talos
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions as WorldWish
from stockman_lab.world.preset import preset_world
from stockman_lab.world.staging import Staged, Staging, bring_up, stage_files
from stockman_lab.world.world import World

from stockman.app.adoption.adopt import adopt_cluster
from stockman.app.adoption.observation import AdoptionClients
from stockman.assessment.adoption.description import Adoption, AdoptionOptions
from stockman.config.presets import Answers, render_preset
from stockman.planning.starter.observed import ApiConnection
from stockman.proxmox.client import ProxmoxClient
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.patch import Patch
from tests.steps.talos_scene import MIXED, NETWORK, _one_controller

TOKEN = "root@pam!adopt"
WISH = AdoptionOptions(
    connection=ApiConnection(
        url="https://127.67.0.4:8006", token_id=TOKEN, token_is_given=True, ca="an authority\n"
    )
)


class Running:
    """A cluster that runs."""

    def __init__(self, world: World, staged: Staged) -> None:
        self.world = world
        self.staged = staged

    @property
    def pve(self) -> MemoryClient:
        """Root, for meddling."""
        return MemoryClient(self.world, next(iter(self.world.clusters)))

    def config(self, node: str) -> str:
        """Where the API has the configuration of a node's VM."""
        cluster, vmid = self.staged.machines[node]
        host = self.world.clusters[cluster].state.guests[vmid].node
        return f"/nodes/{host}/qemu/{vmid}/config"

    def doors(self, caller: Caller | None = None) -> AdoptionClients:
        cluster = next(iter(self.world.clusters))
        clock = WorldClock(self.world)
        root = MemoryClient(self.world, cluster, caller=caller)
        first = self.world.talos.machine(*next(iter(self.staged.machines.values())))
        kubernetes = self.world.kubernetes.cluster_of(first)
        assert kubernetes is not None
        return AdoptionClients(
            proxmox=ProxmoxClient(WorldWire(root), clock),
            talos=memory_talos(self.world),
            kubernetes=memory_kubernetes(kubernetes.api),
            clock=clock,
            endpoints=tuple(
                str(node.address.ip) for node in self.staged.desired.nodes if node.is_controller
            ),
        )

    def adopted(self, adoption_options: AdoptionOptions = WISH) -> Adoption:
        return asyncio.run(adopt_cluster(self.doors(), adoption_options, Dice(5)))


def patch(text: str) -> Patch:
    return Patch(label="by hand", file="by-hand.yaml", text=text)


@cache
def _made(preset: str, version: str, pve: str, patches: tuple[str, ...]) -> tuple[bytes, Staged]:
    known = "three-node" if preset == MIXED else preset
    world = preset_world(WorldWish(known, NETWORK, profile=pve))
    staging = Staging(
        preset=known,
        network=NETWORK,
        talos_version=version,
        bootstrap=False,
        patches=PatchSet(all=tuple(map(patch, patches))),
    )
    texts = render_preset(known, network=NETWORK, answers=Answers(talos_version=version))
    if preset == MIXED:
        texts["nodes.yaml"] = _one_controller(texts["nodes.yaml"])
    staged = stage_files(world, texts, staging)
    bring_up(world, staged)
    return world_file(world.state), staged


def running(
    preset: str = "three-node",
    version: str = "1.13.9",
    *,
    pve: str = "9.1",
    patches: Iterable[str] = (),
) -> Running:
    """A cluster of a preset; patches are what somebody wanted otherwise than we would."""
    content, staged = _made(preset, version, pve, tuple(patches))
    return Running(World(read_world(content)), staged)
