"""The door to Talos machines without a wire: calls go straight into the world."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from stockman.talos.wire.schema import ApiSchema, load_api_schema
from stockman.talos.wire.values import new_message
from stockman_lab.talos.api.call import IncomingCall
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import CallContext, all_methods

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine
    from stockman_lab.world.world import World

ADMIN = frozenset({"os:admin"})


class NothingMoves(Exception):
    """Somebody waits for a change in a world where nothing is going to happen."""


class WorldPatience:
    """How calls wait in a world that nobody serves: they let its time pass."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self._world.advance(seconds)

    async def changed(self) -> None:
        """Let the next thing happen that is planned."""
        upcoming = self._world.timeline.next_at
        if upcoming is None:
            raise NothingMoves
        self._world.timeline.run_until(upcoming)


class TalosMemoryClient:
    """Calls the API of one machine in the name of somebody."""

    def __init__(
        self,
        world: World,
        machine: Machine,
        roles: frozenset[str] = ADMIN,
        headers: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.world = world
        self.machine = machine
        self._roles = roles
        self._headers = dict(headers or {})
        self._around = CallContext(world.talos, WorldPatience(world), all_methods())

    @property
    def wire(self) -> ApiSchema:
        """Messages of the machine that is asked, or of the one that it passes calls on to."""
        for name in self._headers.get("node", ()):
            machine = self.world.talos.machine_at(name, self.machine)
            if machine is not None:
                return load_api_schema(machine.minor)
        return load_api_schema(self.machine.minor)

    async def call(self, path: str, /, **fields: object) -> Any:  # noqa: ANN401  # a message
        """The one message that is answered; raises `Refusal`."""
        async for content in self.stream(path, **fields):
            return content
        raise EOFError(path)

    async def stream(self, path: str, /, **fields: object) -> AsyncGenerator[Any, None]:
        """All messages that are answered; path is `machine.MachineService/Version`."""
        wire = self.wire
        service, _, name = path.rpartition("/")
        method = wire.method(service, name)
        piece = new_message(wire, method.request, fields).SerializeToString()
        async with aclosing(self._sent(path, _once(piece))) as answer:
            async for found in answer:
                yield wire.message(method.response).FromString(found)

    async def upload(self, path: str, messages: Iterable[Mapping[str, object]]) -> Any:  # noqa: ANN401  # a message
        """What is answered to a stream of messages."""
        wire = self.wire
        service, _, name = path.rpartition("/")
        method = wire.method(service, name)
        encoded = [
            new_message(wire, method.request, message).SerializeToString() for message in messages
        ]
        async with aclosing(self._sent(path, _several(encoded))) as answer:
            async for found in answer:
                return wire.message(method.response).FromString(found)
        raise EOFError(path)

    def _sent(self, path: str, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        incoming = IncomingCall(
            path=f"/{path}",
            pieces=pieces,
            headers=self._headers,
            roles=self._roles,
            peer="127.0.0.1",
        )
        return perform(self._around, self.machine, incoming)


async def _once(piece: bytes) -> AsyncIterator[bytes]:
    yield piece


async def _several(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
