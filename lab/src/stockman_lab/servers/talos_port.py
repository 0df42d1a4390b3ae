"""`ports.Talos` in memory: the calls of the product, carried straight into the world."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from stockman.model.errors import Denied, Refused, Unreachable
from stockman.talos.api import errors
from stockman.talos.api.client import TalosClient
from stockman.talos.api.errors import CallFailure, call_error, lost_answer_error
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.operations import MaintenanceMachine
from stockman.talos.wire.schema import ApiSchema, load_api_schema
from stockman.talos.wire.values import new_message
from stockman_lab.talos.api.call import MAINTENANCE, Cut, IncomingCall, single
from stockman_lab.talos.api.call import Refusal as LabRefusal
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import CallContext, all_methods
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

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


_PEER = "127.0.0.1"
_HUNG = 0.2
"""Seconds of real time after which a call hangs: without a wire only what is sent takes any."""


class _Dead(Exception):
    """The connection ended before the answer did."""


class WorldTalosWire:
    """Carries calls to the machines of a world."""

    def __init__(self, world: World, roles: frozenset[str] = ADMIN) -> None:
        self._world = world
        self._roles = roles
        self._around = CallContext(world.talos, WorldPatience(world), all_methods())

    async def unary(self, request: TalosRequest) -> bytes:
        return await self._only(request, None)

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        return await self._only(request, messages)

    async def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        begun = False
        for is_last in (not request.is_read, True):
            try:
                async with aclosing(self._answers(request, single(request.message))) as answers:
                    async for piece in answers:
                        begun = True
                        yield piece
                return
            except _Dead:
                if begun or is_last:
                    raise lost_answer_error(request, "the connection was lost") from None

    async def _only(self, request: TalosRequest, messages: AsyncIterable[bytes] | None) -> bytes:
        pieces = single(request.message) if messages is None else _iterate_messages(messages)
        hung = _HUNG if messages is None else None
        for is_last in (not request.is_read, True):
            try:
                async with aclosing(self._answers(request, pieces, hung)) as answers:
                    async for piece in answers:
                        return piece
            except _Dead:
                if is_last:
                    break
                pieces = single(request.message)
        raise lost_answer_error(request, "the connection was lost")

    async def _answers(
        self, request: TalosRequest, pieces: AsyncIterator[bytes], hung: float | None = _HUNG
    ) -> AsyncGenerator[bytes, None]:
        machine = self._dial(request)
        headers = {} if request.stranger is not None else {"node": [str(request.node)]}
        roles = frozenset[str]() if request.stranger is not None else self._roles
        incoming = IncomingCall(f"/{request.method}", pieces, headers, roles, _PEER)
        try:
            async with aclosing(perform(self._around, machine, incoming)) as answer:
                while True:
                    async with asyncio.timeout(hung):
                        piece = await anext(answer, None)
                    if piece is None:
                        return
                    yield piece
        except LabRefusal as error:
            raise call_error(
                request, CallFailure(code=int(error.code), message=error.message)
            ) from None
        except Cut:
            raise _Dead from None
        except (TimeoutError, NothingMoves):
            self._world.advance(request.seconds)
            raise lost_answer_error(request, f"no data within {request.seconds:g} s") from None

    def _dial(self, request: TalosRequest) -> Machine:
        """The machine that takes the connection."""
        if request.stranger is not None:
            return self._stranger(request.stranger)
        for machine in self._world.talos.on():
            api = machine.api
            if machine.is_controlplane and api is not None and api.mode != MAINTENANCE:
                return machine
        raise Unreachable(
            errors.talos_problem("talos.unreachable", "", "no machine of the control plane answers")
        )

    def _stranger(self, stranger: MaintenanceMachine) -> Machine:
        machine = self._world.talos.machine_at(stranger.address)
        api = None if machine is None else machine.api
        if machine is None or api is None:
            raise Unreachable(
                errors.talos_problem("talos.unreachable", stranger.address, "connection refused")
            )
        if stranger.fingerprint and _fingerprint(api.certificate) != stranger.fingerprint:
            why = f"the fingerprint of its key is {_fingerprint(api.certificate)}"
            raise Refused(errors.talos_problem("talos.certificate", stranger.address, why))
        if api.mode != MAINTENANCE:
            why = "it aborts the handshake with 'certificate required'"
            raise Denied(errors.talos_problem("talos.not-let-in", stranger.address, why))
        return machine


def memory_talos(world: World, roles: frozenset[str] = ADMIN) -> TalosClient:
    """The port, with the machines of a world behind it; an admin asks unless others are named."""
    return TalosClient(WorldTalosWire(world, roles))


def _fingerprint(certificate: str) -> str:
    import ssl

    from stockman.crypto.certificates import key_fingerprint

    return key_fingerprint(ssl.PEM_cert_to_DER_cert(certificate))


async def _iterate_messages(messages: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    async for message in messages:
        yield message
