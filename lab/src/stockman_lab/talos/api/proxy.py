"""Which machine a call is for: the one that got it, another, or many.

Machines of the control plane carry calls on to others; workers do not. Many answers become one
message, or one stream, in which each part says whose it is.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.schema import load_api_schema
from stockman_lab.talos.api.call import (
    LOST,
    MAINTENANCE,
    ApiMachine,
    Cut,
    IncomingCall,
    Refusal,
    Served,
)
from stockman_lab.talos.api.dispatch import answered, roles_of
from stockman_lab.talos.api.registry import CallContext
from stockman_lab.talos.api.roles import IMPERSONATOR

if TYPE_CHECKING:
    from stockman.talos.wire.values import Fields

Carried: TypeAlias = Callable[[str, IncomingCall], AsyncGenerator[bytes, None]]

_ANY_MINOR = "1.11"
"""The names of machines are written alike in all of them."""
_FIRST_FIELD = 0x0A
_MOST_WAITING = 16


async def merged_messages(
    carried: Carried, targets: Sequence[str], incoming: IncomingCall
) -> AsyncGenerator[bytes, None]:
    """One message that holds the answers of all."""
    calls = await _one_for_each(targets, incoming)
    results = await asyncio.gather(
        *(_part(carried, target, call) for target, call in zip(targets, calls, strict=True))
    )
    yield b"".join(results)


async def merged_streams(
    carried: Carried, targets: Sequence[str], incoming: IncomingCall
) -> AsyncGenerator[bytes, None]:
    """The messages of all as they come; none is taken faster than they are wanted."""
    calls = await _one_for_each(targets, incoming)
    coming: asyncio.Queue[bytes | None] = asyncio.Queue()
    room = asyncio.Semaphore(_MOST_WAITING)

    async def forward(target: str, incoming: IncomingCall) -> None:
        try:
            async for piece in carried(target, incoming):
                await room.acquire()
                coming.put_nowait(piece + _metadata({"hostname": target}))
        except Refusal as refusal:
            await room.acquire()
            coming.put_nowait(_metadata(_error(target, refusal)))
        finally:
            coming.put_nowait(None)

    # No group of tasks: whoever leaves early closes this generator in the middle of it.
    tasks = [
        asyncio.ensure_future(forward(target, call))
        for target, call in zip(targets, calls, strict=True)
    ]
    try:
        for _ in tasks:
            while (piece := await coming.get()) is not None:
                room.release()
                yield piece
        for task in tasks:
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _part(carried: Carried, target: str, incoming: IncomingCall) -> bytes:
    try:
        pieces = [piece async for piece in carried(target, incoming)]
    except Refusal as refusal:
        return _message_list(_metadata(_error(target, refusal)))
    named = _metadata({"hostname": target})
    return b"".join(_message_list(_first(piece) + named) for piece in pieces)


async def _one_for_each(targets: Sequence[str], incoming: IncomingCall) -> list[IncomingCall]:
    """The call, as often as there are targets; what is uploaded to several is read first."""
    if len(targets) == 1:
        return [incoming]
    pieces = [piece async for piece in incoming.pieces]
    return [
        IncomingCall(incoming.path, _again(pieces), incoming.headers, incoming.roles, incoming.peer)
        for _ in targets
    ]


async def _again(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _error(target: str, refusal: Refusal) -> Fields:
    status = {"code": int(refusal.code), "message": refusal.message}
    return {"hostname": target, "error": str(refusal), "status": status}


def _metadata(fields: Fields) -> bytes:
    from stockman.talos.wire.values import new_message

    message = new_message(load_api_schema(_ANY_MINOR), "common.Empty", {"metadata": fields})
    return message.SerializeToString()


def _message_list(message: bytes) -> bytes:
    return bytes([_FIRST_FIELD]) + _varint(len(message)) + message


def _first(piece: bytes) -> bytes:
    """The only element of a list of messages."""
    place = 1
    while piece[place] & 0x80:
        place += 1
    return piece[place + 1 :]


def _varint(number: int) -> bytes:
    numbers = bytearray()
    while number > 0x7F:
        numbers.append(number & 0x7F | 0x80)
        number >>= 7
    numbers.append(number)
    return bytes(numbers)


_ONE_TO_MANY = frozenset(
    {
        "machine.MachineService",
        "cluster.ClusterService",
        "inspect.InspectService",
        "storage.StorageService",
        "time.TimeService",
    }
)
_STREAMED = frozenset(
    {
        "/cluster.ClusterService/HealthCheck",
        "/machine.MachineService/Copy",
        "/machine.MachineService/DiskUsage",
        "/machine.MachineService/Dmesg",
        "/machine.MachineService/EtcdSnapshot",
        "/machine.MachineService/Events",
        "/machine.MachineService/ImageList",
        "/machine.MachineService/Kubeconfig",
        "/machine.MachineService/List",
        "/machine.MachineService/Logs",
        "/machine.MachineService/PacketCapture",
        "/machine.MachineService/Read",
    }
)
_PORT = 50000
_NO_ROUTE_AFTER = 3.0
"""Seconds after which a neighbour that is silent is given up."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A machine that carries calls on."""

    around: CallContext
    machine: ApiMachine

    async def carried(self, target: str, incoming: IncomingCall) -> AsyncGenerator[bytes, None]:
        """What another machine answers."""
        api_machine = await self._reach(target)
        authority = incoming.headers.get(":authority") or ["unknown"]
        headers = {name: value for name, value in incoming.headers.items() if name not in _ROUTING}
        api = self.machine.api
        roles = incoming.roles if api is None else roles_of(api, incoming)
        onward = IncomingCall(
            path=incoming.path,
            pieces=incoming.pieces,
            headers={**headers, "proxyfrom": authority, "talos-role": sorted(roles)},
            roles=frozenset({IMPERSONATOR}),
            peer=next(iter(self.machine.addresses), ""),
        )
        try:
            async with aclosing(answered(self.around, api_machine, onward)) as answer:
                async for piece in answer:
                    yield piece
        except Cut:
            raise Refusal(GrpcCode.UNAVAILABLE, LOST) from None

    async def _reach(self, target: str) -> ApiMachine:
        if not target or _has_port(target):
            raise Refusal(GrpcCode.INTERNAL, f'invalid target "{target}"')
        machine = self.around.land.machine_at(target)
        if machine is None and not _is_address(target):
            raise Refusal(
                GrpcCode.UNAVAILABLE,
                f"dns: A record lookup error: lookup {target}: no such host",
            )
        if machine is None or not machine.is_on:
            await self.around.patience.sleep(_NO_ROUTE_AFTER)
            raise _dial_refusal(target, "no route to host")
        if machine.api is None:
            raise _dial_refusal(target, "connection refused")
        if not self._trusts(machine.api):
            raise _trust_refusal(machine.api)
        return machine

    def _trusts(self, served: Served) -> bool:
        own = self.machine.api
        return (
            own is not None
            and served.mode != MAINTENANCE
            and bool(_certificates(own.ca) & _certificates(served.ca))
        )


_ROUTING = frozenset({"node", "nodes", "proxyfrom", "talos-role", ":authority"})


async def perform(
    context: CallContext, machine: ApiMachine, incoming: IncomingCall
) -> AsyncGenerator[bytes, None]:
    """What a machine answers to a call that it got, from wherever the answer comes.

    Encoded messages; ends with `Refusal`, or with `Cut` where the connection breaks.
    """
    async with aclosing(_route(context, machine, incoming)) as answer:
        async for piece in answer:
            yield piece


def _route(
    context: CallContext, machine: ApiMachine, incoming: IncomingCall
) -> AsyncGenerator[bytes, None]:
    api, headers = machine.api, incoming.headers
    if api is None or api.mode == MAINTENANCE or "proxyfrom" in headers:
        return answered(context, machine, incoming)
    node, nodes = headers.get("node"), headers.get("nodes")
    if node is not None and len(node) != 1:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, "node metadata must be single-valued")
    if not machine.is_controlplane:
        node = None if node is not None and _is_local(machine, node) else node
        nodes = None if nodes is not None and _is_local(machine, nodes) else nodes
    if nodes is None and node is None:
        return answered(context, machine, incoming)
    service = incoming.path.removeprefix("/").partition("/")[0]
    if nodes is not None and service not in _ONE_TO_MANY:
        raise Refusal(
            GrpcCode.INVALID_ARGUMENT,
            f"one-2-many proxying is not supported for method {incoming.path}",
        )
    if not machine.is_controlplane:
        raise Refusal(GrpcCode.PERMISSION_DENIED, "no request forwarding")
    carrier = Carrier(context, machine)
    if nodes is None:
        return carrier.carried("" if node is None else node[0], incoming)
    if incoming.path in _STREAMED:
        return merged_streams(carrier.carried, nodes, incoming)
    return merged_messages(carrier.carried, nodes, incoming)


def _is_local(machine: ApiMachine, targets: Sequence[str]) -> bool:
    return len(targets) == 1 and targets[0] in {*machine.addresses, machine.hostname}


def _is_address(target: str) -> bool:
    try:
        ipaddress.ip_address(target)
    except ValueError:
        return False
    return True


def _has_port(target: str) -> bool:
    return target.count(":") == 1 or (target.startswith("[") and "]:" in target)


def _dial_refusal(target: str, why: str) -> Refusal:
    where = f"[{target}]" if ":" in target else target
    return Refusal(
        GrpcCode.UNAVAILABLE,
        'connection error: desc = "transport: Error while dialing: '
        f'dial tcp {where}:{_PORT}: connect: {why}"',
    )


def _trust_refusal(served: Served) -> Refusal:
    hint = ""
    if served.mode != MAINTENANCE:
        hint = (
            ' (possibly because of \\"x509: Ed25519 verification failure\\" while trying to verify '
            'candidate authority certificate \\"talos\\")'
        )
    return Refusal(
        GrpcCode.UNAVAILABLE,
        'connection error: desc = "transport: authentication handshake failed: '
        "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        f'{hint}"',
    )


def _certificates(pem: str) -> set[str]:
    return {text.strip() for text in pem.split("-----END CERTIFICATE-----") if text.strip()}
