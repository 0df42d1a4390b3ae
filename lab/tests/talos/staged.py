"""Worlds with a running Talos cluster, made once and copied for every test."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Network

from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

NETWORK = IPv4Network("127.67.0.0/16")


@cache
def _file(preset: str, version: str, bootstrap: bool) -> bytes:
    world = preset_world(PresetOptions(preset, NETWORK))
    staging = Staging(
        preset=preset, network=NETWORK, talos_version=version or None, bootstrap=bootstrap
    )
    stage_cluster(world, staging)
    return world_file(world.state)


def staged(preset: str = "single", version: str = "1.13.9", *, bootstrap: bool = True) -> World:
    """A world of a preset; without `bootstrap` its machines are made and switched off."""
    return World(read_world(_file(preset, version, bootstrap)))


def machine(world: World, name: str = "") -> Machine:
    """The machine with a name, of the host or of the virtual machine; the first one without."""
    machines = [
        machine
        for machine in world.talos.machines
        if not name or name in (machine.hostname, machine.state.name)
    ]
    return machines[0]


def stage_of(machine: Machine) -> Stage:
    """Where a machine is now; asked again after everything that changes it."""
    return machine.state.stage
