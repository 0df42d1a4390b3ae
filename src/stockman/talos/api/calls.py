"""What all families of calls share: asking, and reading what comes back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TypeVar

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.ports.talos.maintenance import Stranger
from stockman.talos.api.messages import decoded, encoded, only
from stockman.talos.api.refusals import odd_answer
from stockman.talos.api.rows import OddAnswer, Row
from stockman.talos.api.wire import Request, Wire

T = TypeVar("T")
Fields = Mapping[str, object]

MACHINE = "machine.MachineService"
CHANGE_SECONDS = 60.0
READ_SECONDS = 20.0


@record
class Place:
    """Whom a call is for."""

    node: MachineAddress
    stranger: Stranger | None = None
    """Asked without a certificate of ours. None: with ours."""

    @classmethod
    def of(cls, at: MachineAddress | Stranger) -> Place:
        if isinstance(at, Stranger):
            return cls(node=at.address, stranger=at)
        return cls(node=at)


class Calls:
    """A family of calls over a wire."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def _read(
        self,
        method: str,
        at: MachineAddress | Stranger,
        read: Callable[[Row], T],
        fields: Fields | None = None,
    ) -> T:
        """What a read makes of the one message of an answer."""
        request = request_for(method, at, fields or {})
        return read_answer(request, await self._wire.unary(request), lambda row: read(only(row)))

    async def _change(
        self,
        method: str,
        at: MachineAddress | Stranger,
        fields: Fields | None = None,
        *,
        seconds: float = CHANGE_SECONDS,
        secrets: tuple[str, ...] = (),
    ) -> Row:
        """Change something; returns the one message of the answer."""
        place = Place.of(at)
        request = Request(
            method=method,
            node=place.node,
            stranger=place.stranger,
            message=encoded(method, fields or {}),
            is_read=False,
            seconds=seconds,
            secrets=secrets,
        )
        return read_answer(request, await self._wire.unary(request), only)

    async def _each(
        self,
        method: str,
        at: MachineAddress | Stranger,
        read: Callable[[Row], T],
        fields: Fields | None = None,
        *,
        seconds: float = READ_SECONDS,
    ) -> AsyncGenerator[T, None]:
        """What a read makes of each message of a stream that changes nothing."""
        answers = self._answers(request_for(method, at, fields or {}, seconds), read)
        async with aclosing(answers):
            async for found in answers:
                yield found

    async def _answers(self, request: Request, read: Callable[[Row], T]) -> AsyncGenerator[T, None]:
        """What a read makes of each message of a stream."""
        async with aclosing(self._wire.stream(request)) as answer:
            async for message in answer:
                yield read_answer(request, message, read)


def read_answer(request: Request, message: bytes, read: Callable[[Row], T]) -> T:
    """What a read makes of a message; an odd one is told as such."""
    try:
        return read(decoded(request.method, message))
    except OddAnswer as error:
        why = str(error)
    raise odd_answer(request, why)


def request_for(
    method: str,
    at: MachineAddress | Stranger,
    fields: Fields | None = None,
    seconds: float = READ_SECONDS,
) -> Request:
    """A call that changes nothing."""
    place = Place.of(at)
    return Request(
        method=method,
        node=place.node,
        stranger=place.stranger,
        message=b"" if fields is None else encoded(method, fields),
        seconds=seconds,
    )
