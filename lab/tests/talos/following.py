"""Streams that go on, read until nothing more is going to happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from stockman_lab.servers.talos_port import NothingMoves

from lab.tests.talos.asking import Asking


def followed(
    asking: Asking, name: str, then: Callable[[], object] | None = None, **fields: object
) -> list[Any]:
    """All messages of a stream; `then` is called after the first one, to let something begin."""

    async def collected() -> list[Any]:
        values: list[Any] = []
        try:
            async for value in asking.door.stream(f"machine.MachineService/{name}", **fields):
                if not values and then is not None:
                    then()
                values.append(value)
        except NothingMoves:
            pass
        return values

    return asyncio.run(collected())
