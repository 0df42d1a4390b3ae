"""Calls of machines in tests, without an event loop in sight."""

from __future__ import annotations

import asyncio
from typing import Any

from stockman_lab.servers.talos_port import ADMIN, TalosMemoryClient
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World


class Asking:
    """Asks one machine."""

    def __init__(
        self,
        world: World,
        machine: Machine,
        *roles: str,
        node: str = "",
        nodes: tuple[str, ...] = (),
    ) -> None:
        headers = {"node": [node]} if node else {}
        if nodes:
            headers = {"nodes": list(nodes)}
        self.door = TalosMemoryClient(world, machine, frozenset(roles) or ADMIN, headers)

    def call(self, name: str, **fields: object) -> Any:  # a message
        """The answer of a method of `MachineService`, out of its envelope."""
        path = name if "/" in name else f"machine.MachineService/{name}"
        result = asyncio.run(self.door.call(path, **fields))
        return result.messages[0] if "messages" in result.DESCRIPTOR.fields_by_name else result

    def stream(self, name: str, **fields: object) -> list[Any]:
        """All messages of a method that ends by itself."""
        path = name if "/" in name else f"machine.MachineService/{name}"

        async def collected() -> list[Any]:
            return [value async for value in self.door.stream(path, **fields)]

        return asyncio.run(collected())

    def upload(self, name: str, content: bytes) -> Any:  # a message
        """What is answered to a file."""
        pieces = [{"bytes": rows} for rows in _cut(content)]
        return asyncio.run(self.door.upload(f"machine.MachineService/{name}", pieces))


def _cut(content: bytes) -> list[bytes]:
    return [content[start : start + 4096] for start in range(0, len(content), 4096)]
