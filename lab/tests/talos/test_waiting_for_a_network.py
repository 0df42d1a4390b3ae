"""Machines whose Nodes never become ready boot again, until somebody brings a network."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Network

from stockman_lab.kube.api.messages import User
from stockman_lab.kube.controllers.client import Client
from stockman_lab.talos.acting import reboot
from stockman_lab.talos.machine import Machine
from stockman_lab.world.equipping import bring_network
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

NETWORK = IPv4Network("127.67.0.0/16")
PATIENCE = 700.0
"""Seconds after which a machine has given up, and is up again."""


@cache
def _file() -> bytes:
    world = preset_world(PresetOptions("single", NETWORK))
    staging = Staging(
        preset="single", network=NETWORK, talos_version="1.13.9", network_plugin=False
    )
    stage_cluster(world, staging)
    return world_file(world.state)


def without_network() -> tuple[World, Machine]:
    world = World(read_world(_file()))
    (machine,) = world.talos.machines
    return world, machine


def bring(world: World, machine: Machine) -> None:
    cluster = world.kubernetes.cluster_of(machine)
    assert cluster is not None
    bring_network(world, cluster)


def test_a_machine_without_a_network_boots_again_after_ten_minutes() -> None:
    world, machine = without_network()
    boot = machine.state.boot
    assert machine.state.kubernetes.registered
    assert not machine.state.kubernetes.node_ready
    world.advance(500)
    assert machine.state.boot == boot
    world.advance(PATIENCE - 500)
    assert machine.state.boot == boot + 1


def test_it_goes_on_so_while_nobody_brings_one() -> None:
    world, machine = without_network()
    boot = machine.state.boot
    for count in (1, 2, 3):
        world.advance(PATIENCE)
        world.settle()
        assert machine.state.boot == boot + count


def test_a_world_comes_to_rest_meanwhile() -> None:
    world, machine = without_network()
    boot, now = machine.state.boot, world.now
    world.settle()
    assert (machine.state.boot, world.now) == (boot, now)


def test_it_ends_as_soon_as_a_network_is_there() -> None:
    world, machine = without_network()
    world.advance(PATIENCE)
    world.settle()
    boot = machine.state.boot
    bring(world, machine)
    assert machine.state.kubernetes.node_ready
    world.advance(5 * PATIENCE)
    assert machine.state.boot == boot


def test_a_machine_that_was_ready_once_stays_up_without_a_network() -> None:
    world, machine = without_network()
    bring(world, machine)
    cluster = world.kubernetes.cluster_of(machine)
    assert cluster is not None
    client = Client(cluster.api, "kubectl", User("admin", ("system:masters",)))
    for snapshot in cluster.controllers.objects.listed("daemonsets"):
        client.delete(snapshot)
    world.settle()
    reboot(machine, "default")
    world.settle()
    boot = machine.state.boot
    assert not machine.state.kubernetes.node_ready
    world.advance(2 * PATIENCE)
    assert machine.state.boot == boot
