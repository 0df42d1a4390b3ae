"""`ports.Talos` in memory: the calls of the product, carried straight into the world."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing

from stockman.lab.doors.talos_memory import ADMIN, NothingMoves, WorldPatience
from stockman.lab.talos.api.around import Around
from stockman.lab.talos.api.asked import Asked, single
from stockman.lab.talos.api.call import MAINTENANCE
from stockman.lab.talos.api.proxy import perform
from stockman.lab.talos.api.refusal import Cut
from stockman.lab.talos.api.refusal import Refusal as LabRefusal
from stockman.lab.talos.api.registry import all_methods
from stockman.lab.talos.machine import Machine
from stockman.lab.world.world import World
from stockman.model.errors import Denied, Refused, Unreachable
from stockman.ports.talos.maintenance import Stranger
from stockman.talos.api import problems
from stockman.talos.api.api import ApiTalos
from stockman.talos.api.refusals import Refusal, lost, refusal
from stockman.talos.api.wire import Request

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
        self._around = Around(world.talos, WorldPatience(world), all_methods())

    async def unary(self, request: Request) -> bytes:
        return await self._only(request, None)

    async def upload(self, request: Request, messages: AsyncIterable[bytes]) -> bytes:
        return await self._only(request, messages)

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
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
                    raise lost(request, "the connection was cut") from None

    async def _only(self, request: Request, messages: AsyncIterable[bytes] | None) -> bytes:
        pieces = single(request.message) if messages is None else _iterated(messages)
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
        raise lost(request, "the connection was cut")

    async def _answers(
        self, request: Request, pieces: AsyncIterator[bytes], hung: float | None = _HUNG
    ) -> AsyncGenerator[bytes, None]:
        machine = self._dialled(request)
        headers = {} if request.stranger is not None else {"node": [str(request.node)]}
        roles = frozenset[str]() if request.stranger is not None else self._roles
        asked = Asked(f"/{request.method}", pieces, headers, roles, _PEER)
        try:
            async with aclosing(perform(self._around, machine, asked)) as answer:
                while True:
                    async with asyncio.timeout(hung):
                        piece = await anext(answer, None)
                    if piece is None:
                        return
                    yield piece
        except LabRefusal as no:
            raise refusal(request, Refusal(code=int(no.code), message=no.message)) from None
        except Cut:
            raise _Dead from None
        except (TimeoutError, NothingMoves):
            self._world.advance(request.seconds)
            raise lost(request, f"nothing came within {request.seconds:g} s") from None

    def _dialled(self, request: Request) -> Machine:
        """The machine that takes the connection."""
        if request.stranger is not None:
            return self._stranger(request.stranger)
        for machine in self._world.talos.on():
            api = machine.api
            if machine.is_controlplane and api is not None and api.mode != MAINTENANCE:
                return machine
        raise Unreachable(problems.unreachable("", "no machine of the control plane answers"))

    def _stranger(self, stranger: Stranger) -> Machine:
        found = self._world.talos.machine_at(stranger.address)
        api = None if found is None else found.api
        if found is None or api is None:
            raise Unreachable(problems.unreachable(stranger.address, "nothing listens there"))
        if stranger.fingerprint and _fingerprint(api.certificate) != stranger.fingerprint:
            why = f"the fingerprint of its key is {_fingerprint(api.certificate)}"
            raise Refused(problems.untrusted(stranger.address, why))
        if api.mode != MAINTENANCE:
            why = "it ends the handshake with 'certificate required'"
            raise Denied(problems.not_let_in(stranger.address, why))
        return found


def memory_talos(world: World, roles: frozenset[str] = ADMIN) -> ApiTalos:
    """The port, with the machines of a world behind it; an admin asks unless others are named."""
    return ApiTalos(WorldTalosWire(world, roles))


def _fingerprint(certificate: str) -> str:
    import ssl

    from stockman.crypto.key_fingerprint import key_fingerprint

    return key_fingerprint(ssl.PEM_cert_to_DER_cert(certificate))


async def _iterated(messages: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    async for message in messages:
        yield message
