"""How a call finds the function that answers it on a machine."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.schema import UnknownApiName, load_api_schema
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.talos.api import controlplane, maintenance
from stockman_lab.talos.api.call import (
    LOST,
    MAINTENANCE,
    ApiFleet,
    ApiMachine,
    BoundPatience,
    Call,
    Cut,
    IncomingCall,
    Patience,
    Refusal,
    Served,
)
from stockman_lab.talos.api.registry import CallContext, MethodKind
from stockman_lab.talos.api.roles import (
    IMPERSONATOR,
    READER,
    allowed,
    only_reads,
    reads_at_first_only,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from stockman.talos.wire.schema import ApiMethod, ApiSchema
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine

TRUNCATED = "truncated"

_first_answers: WeakKeyDictionary[ApiFleet, dict[tuple[int, str, str], list[bytes]]]
_first_answers = WeakKeyDictionary()


def struck(fleet: ApiFleet, machine: ApiMachine, path: str, roles: frozenset[str]) -> Fault | None:
    """The fault that a call meets."""
    service, _, name = path.strip("/").partition("/")
    facts = {
        **machine.facts,
        "service": service,
        "method": name,
        "role": ",".join(sorted(roles)),
    }
    return fleet.fault(Point.TALOS_CALL, facts)


async def spoiled(
    fault: Fault,
    answer: AsyncGenerator[bytes, None],
    rows: tuple[ApiFleet, ApiMachine, str],
    nothing: bytes,
) -> AsyncGenerator[bytes, None]:
    """An answer after a fault was at it; `nothing` is an empty one."""
    effect = fault.effect
    if effect is Effect.CUT:
        raise Cut
    if effect is Effect.FAIL:
        raise _refusal(fault)
    if effect is Effect.HANG:
        await asyncio.get_running_loop().create_future()
    if effect is Effect.CLAIM:
        yield nothing
        return
    if effect in (Effect.DO_THEN_FAIL, Effect.DO_THEN_CUT):
        async for _ in answer:
            pass
        raise Cut if effect is Effect.DO_THEN_CUT else _refusal(fault)
    if effect is Effect.LIE and only_reads(rows[2]):
        for piece in await _as_first(fault, answer, rows):
            yield piece
        return
    if effect is Effect.CORRUPT and fault.message == TRUNCATED:
        pieces = [one async for one in answer]
        for piece in pieces[: len(pieces) // 2]:
            yield piece
        return
    async for piece in answer:
        yield _damage_message(piece) if effect is Effect.CORRUPT else piece


async def delayed(fault: Fault, patience: Patience) -> None:
    """Let the time of a fault pass."""
    if fault.effect is Effect.DELAY:
        await patience.sleep(fault.seconds)


def _refusal(fault: Fault) -> Refusal:
    code = GrpcCode(fault.status) if fault.status else GrpcCode.UNAVAILABLE
    return Refusal(code, fault.message or LOST)


async def _as_first(
    fault: Fault, answer: AsyncIterator[bytes], rows: tuple[ApiFleet, ApiMachine, str]
) -> list[bytes]:
    land, machine, path = rows
    known = _first_answers.setdefault(land, {})
    key = (fault.number, str(machine.facts.get("vmid", machine.hostname)), path)
    if key not in known:
        known[key] = [piece async for piece in answer]
    return known[key]


def _damage_message(piece: bytes) -> bytes:
    middle = len(piece) // 2
    return (
        piece[:middle]
        + bytes(byte ^ 0xFF for byte in piece[middle : middle + 1])
        + piece[middle + 1 :]
    )


_MESSAGES = "messages"
_TOO_LARGE = 32 * 1024 * 1024


def wrapped(
    wire: ApiSchema, method: ApiMethod, fields: Mapping[str, object]
) -> Mapping[str, object]:
    """A reply in its envelope, where a method has one."""
    if method.server_stream or not has_envelope(wire, method):
        return fields
    return {_MESSAGES: [fields]}


def has_envelope(wire: ApiSchema, method: ApiMethod) -> bool:
    """Whether replies of a method are lists."""
    return [field.name for field in wire.message(method.response).DESCRIPTOR.fields] == [_MESSAGES]


def encoded(wire: ApiSchema, method: ApiMethod, fields: Mapping[str, object]) -> bytes:
    """A reply as it goes over the wire."""
    from stockman.talos.wire.values import new_message

    message = new_message(wire, method.response, wrapped(wire, method, fields))
    text = message.SerializeToString()
    if len(text) > _TOO_LARGE:
        raise Refusal(
            GrpcCode.RESOURCE_EXHAUSTED,
            f"grpc: received message larger than max ({len(text)} vs. {_TOO_LARGE})",
        )
    return text


def decoded(wire: ApiSchema, method: ApiMethod, piece: bytes) -> Message:
    """What a caller sent; fields that nobody knows are kept aside."""
    from google.protobuf.message import DecodeError

    try:
        return wire.message(method.request).FromString(piece)
    except DecodeError:
        raise Refusal(
            GrpcCode.INTERNAL,
            "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data",
        ) from None


_INTERNAL_SERVICES = frozenset({"securityapi.SecurityService", "signerapi.SignerService"})
"""Services of the wire that clients do not reach."""


@dataclass(frozen=True, slots=True)
class Doing:
    """A call on its way to its function."""

    around: CallContext
    machine: ApiMachine
    wire: ApiSchema
    method: ApiMethod
    roles: frozenset[str]
    asked: IncomingCall
    boot: int

    def call(self, request: Message | None) -> Call:
        """The call as functions see it."""
        return Call(
            land=cast("Fleet", self.around.land),
            machine=cast("Machine", self.machine),
            request=request,
            roles=self.roles,
            wire=self.wire,
            patience=BoundPatience(self.around.patience, self.machine, self.boot),
            method=self.asked.path,
            peer=self.asked.peer,
        )


async def answered(
    context: CallContext, machine: ApiMachine, incoming: IncomingCall
) -> AsyncGenerator[bytes, None]:
    """What one machine answers by itself; ends with `Refusal` or `Cut` where it does not."""
    api = machine.api
    if api is None:
        raise Refusal(GrpcCode.UNAVAILABLE, "error reading server preface: EOF")
    wire = load_api_schema(machine.minor)
    method = found_method(wire, incoming.path)
    roles = roles_of(api, incoming)
    fault = struck(context.land, machine, incoming.path, roles)
    if fault is not None:
        await delayed(fault, context.patience)
    authorize(machine, api, method, roles)
    answer = carried_out(Doing(context, machine, wire, method, roles, incoming, api.boot))
    if fault is not None:
        nothing = encoded(wire, method, {})
        answer = spoiled(fault, answer, (context.land, machine, incoming.path), nothing)
    async with aclosing(answer):
        async for piece in answer:
            yield piece


def found_method(wire: ApiSchema, path: str) -> ApiMethod:
    """The method that a path names, in a minor."""
    service, slash, name = path.removeprefix("/").rpartition("/")
    if not slash or not path.startswith("/"):
        raise Refusal(GrpcCode.UNIMPLEMENTED, f'malformed method name: "{path}"')
    try:
        known = wire.service(service)
    except UnknownApiName:
        known = {}
    if not known or service in _INTERNAL_SERVICES:
        raise Refusal(GrpcCode.UNIMPLEMENTED, f"unknown service {service}")
    if name not in known:
        raise Refusal(GrpcCode.UNIMPLEMENTED, f"unknown method {name} for service {service}")
    return known[name]


def roles_of(api: Served, incoming: IncomingCall) -> frozenset[str]:
    """The roles that a caller has; other machines speak for those who asked them."""
    if api.mode == MAINTENANCE:
        return frozenset({READER})
    if IMPERSONATOR in incoming.roles and "talos-role" in incoming.headers:
        return frozenset(incoming.headers["talos-role"])
    return incoming.roles


def authorize(machine: ApiMachine, api: Served, method: ApiMethod, roles: frozenset[str]) -> None:
    """Refuse who may not call a method, and what a machine has no part in."""
    in_maintenance = api.mode == MAINTENANCE
    if in_maintenance and maintenance.has_own_server(machine.minor):
        maintenance.check(method.service, method.name)
        return
    path = f"/{method.service}/{method.name}"
    passing = roles & allowed(path, machine.minor)
    if not passing or (passing == {READER} and reads_at_first_only(path) and not in_maintenance):
        raise Refusal(GrpcCode.PERMISSION_DENIED, "not authorized")
    controlplane.check(machine, path, configured=not in_maintenance)


async def carried_out(doing: Doing) -> AsyncGenerator[bytes, None]:
    """The encoded messages of a method's answer."""
    method, wire = doing.method, doing.wire
    entry = doing.around.methods.entry_of(method.service, method.name, wire.minor)
    if entry is None:
        raise Refusal(GrpcCode.UNIMPLEMENTED, f"method {method.name} not implemented")
    if entry.kind in (MethodKind.UPLOADED, MethodKind.TALKED):
        answer = entry.function(doing.call(None), _messages(doing))
    else:
        answer = entry.function(doing.call(await _request(doing)))
    if entry.kind in (MethodKind.STREAMED, MethodKind.TALKED):
        async with aclosing(answer):
            async for fields in answer:
                yield encoded(wire, method, fields)
    else:
        yield encoded(wire, method, await answer if inspect.isawaitable(answer) else answer)


async def _messages(doing: Doing) -> AsyncIterator[Message]:
    async for piece in doing.asked.pieces:
        yield decoded(doing.wire, doing.method, piece)


async def _request(doing: Doing) -> Message:
    async for piece in doing.asked.pieces:
        return decoded(doing.wire, doing.method, piece)
    raise Refusal(GrpcCode.INTERNAL, "EOF")
