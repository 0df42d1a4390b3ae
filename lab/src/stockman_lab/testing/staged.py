"""Worlds with a running Talos cluster: made once, and a copy for everybody who asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network

from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """Which cluster is wanted."""

    preset: str
    network: str
    talos: str | None
    """`1.13.9`. None: as the preset has it."""
    pve: str
    seed: int
    flux: bool = False
    """Whether Flux is in it, and what else clusters have."""


class StagedWorlds:
    """Keeps what was made, as bytes."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        """When certificates begin to be valid."""
        self._made: dict[ClusterOptions, bytes] = {}

    def copy(self, cluster_options: ClusterOptions) -> World:
        """A world of its own for somebody."""
        if cluster_options not in self._made:
            self._made[cluster_options] = self._stage(cluster_options)
        return World(read_world(self._made[cluster_options]))

    def _stage(self, cluster_options: ClusterOptions) -> bytes:
        network = IPv4Network(cluster_options.network)
        world = preset_world(
            PresetOptions(
                preset=cluster_options.preset,
                network=network,
                profile=cluster_options.pve,
                seed=cluster_options.seed,
                now=float(int(self.now.timestamp())),
            )
        )
        staging = Staging(
            preset=cluster_options.preset,
            network=network,
            talos_version=cluster_options.talos,
            real_now=self.now,
            flux=cluster_options.flux,
        )
        stage_cluster(world, staging)
        return world_file(world.state)
