"""Backends that the contract of `ports.Talos` is run on.

A door is a function that takes a world and a story, and returns what the story comes to. Another
door is one more line in `DOORS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeVar

from stockman_lab.servers.talos_port import memory_talos
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

from lab.tests.talos.staged import machine
from stockman.adapters.talos.transport import GrpcTalos
from stockman.model.names import MachineAddress
from stockman.talos.api.client import TalosClient
from tests.adapters.grpc_talos.served import ADMIN, endpoints, served

T = TypeVar("T")


class Stage:
    """The world behind a door, and how it is moved."""

    def __init__(self, world: World, happened: Callable[[], None]) -> None:
        self.world = world
        self._happened = happened

    def machine(self, name: str = "") -> Machine:
        """The machine with a name; the first one without."""
        return machine(self.world, name)

    def node(self, name: str = "") -> MachineAddress:
        """Where the machine with a name answers."""
        return MachineAddress(self.machine(name).address)

    def settle(self) -> None:
        """Let everything happen that is on its way."""
        self.world.settle()
        self._happened()

    def power_off(self, name: str) -> None:
        """Take the power from a machine."""
        self.world.talos.power_off(self.machine(name))
        self.settle()


Story = Callable[[TalosClient, Stage], Awaitable[T]]


class Backend(Protocol):
    """Opens a world and tells it a story, in the name of somebody."""

    def __call__(self, world: World, story: Story[T], role: str = ADMIN) -> T: ...


def memory(world: World, story: Story[T], role: str = ADMIN) -> T:
    """The world itself, without a wire."""

    async def play() -> T:
        return await story(memory_talos(world, frozenset({role})), Stage(world, lambda: None))

    return asyncio.run(play())


def wire(world: World, story: Story[T], role: str = ADMIN) -> T:
    """`GrpcTalos`, with machines behind it that answer over TLS."""

    async def play(scratch: Path) -> T:
        async with (
            served(world, scratch) as face,
            GrpcTalos(endpoints(world, face, role=role)) as talos,
        ):
            return await story(talos, Stage(world, face.happened))

    with TemporaryDirectory() as scratch:
        return asyncio.run(play(Path(scratch)))


BACKENDS: dict[str, Backend] = {"memory": memory, "wire": wire}
