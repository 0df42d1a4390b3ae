"""`ports.Talos` in memory: the calls of the product, carried straight into the world."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing

from stockman.model.errors import Denied, Refused, Unreachable
from stockman.talos.api import errors
from stockman.talos.api.client import TalosClient
from stockman.talos.api.errors import CallFailure, call_error, lost_answer_error
from stockman.talos.api.transport import TalosRequest
from stockman.talos.records.operations import MaintenanceMachine
from stockman_lab.servers.talos_memory import ADMIN, NothingMoves, WorldPatience
from stockman_lab.talos.api.call import MAINTENANCE, Cut, IncomingCall, single
from stockman_lab.talos.api.call import Refusal as LabRefusal
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import CallContext, all_methods
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

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
