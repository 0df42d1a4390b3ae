"""Trouble for machines in tests, and what is seen of it through their API."""

from __future__ import annotations

from typing import Any

import yaml
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking

EMPTY = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
STORE = {"driver": "CRI", "namespace": "NS_SYSTEM"}


def installer(version: str, platform: str = "nocloud", schematic: str = EMPTY) -> str:
    return f"factory.talos.dev/{platform}-installer/{schematic}:v{version}"


def let(world: World, point: Point, effect: Effect, **more: object) -> Fault:
    """Let something go wrong, and let those notice who would."""
    match = more.pop("match", {})
    assert isinstance(match, dict)
    fault = world.faults.add(Fault(point, effect, match, **more))  # type: ignore[arg-type]
    world.strike()
    return fault


def refused(ask: Asking, name: str, **fields: object) -> Refusal:
    """The refusal of a call that has to be refused."""
    try:
        ask.call(name, **fields)
    except Refusal as refusal:
        return refusal
    raise AssertionError(f"{name} was answered")


def shown(world: World, machine: Machine, kind: str, namespace: str = "runtime") -> dict[str, Any]:
    """Resources of a kind by id, as a client reads them."""
    stream = Asking(world, machine).stream(
        "cosi.resource.State/List", type=kind, namespace=namespace
    )
    return {one.resource.metadata.id: yaml.safe_load(one.resource.spec.yaml_spec) for one in stream}


def reconfigured(world: World, machine: Machine, **values: str) -> None:
    """Change the virtual machine behind a machine's back, and let it notice."""
    client = MemoryClient(world, machine.state.cluster)
    guest = world.talos.guest(machine)
    assert guest is not None
    client.put(f"/nodes/{guest.node}/qemu/{guest.vmid}/config", **values)
    world.settle()


def power_cycled(world: World, machine: Machine) -> None:
    """Stop the virtual machine, and start it again."""
    client = MemoryClient(world, machine.state.cluster)
    guest = world.talos.guest(machine)
    assert guest is not None
    for verb in ("stop", "start"):
        client.post(f"/nodes/{guest.node}/qemu/{guest.vmid}/status/{verb}")
        world.settle()


def nic_of(world: World, machine: Machine, key: str = "net0") -> str:
    """A card as the virtual machine has it."""
    guest = world.talos.guest(machine)
    assert guest is not None
    return guest.config.values[key]
