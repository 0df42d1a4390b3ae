"""Fields of answers: what has to be there and is not, or is something else, is an odd answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from stockman.talos.wire.tables import MINORS

if TYPE_CHECKING:
    from stockman.talos.wire.schema import ApiMethod, ApiSchema
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.talos.api.errors import invalid_answer_error
from stockman.talos.api.transport import TalosRequest, TalosTransport
from stockman.talos.records.operations import MaintenanceMachine

Row: TypeAlias = Mapping[str, object]


class InvalidAnswer(ValueError):
    """An answer does not have the shape that it always has; the text says where."""


def get_row(row: Row, name: str) -> Row:
    """A message or a mapping inside of another."""
    found = row.get(name)
    if not isinstance(found, Mapping):
        raise InvalidAnswer(f"{name} is not told")
    return found


def get_rows(row: Row, name: str) -> tuple[Row, ...]:
    """Several messages; none where there is nothing."""
    found = row.get(name)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise InvalidAnswer(f"{name} is not a list of messages")
    return tuple(found)


def get_text(row: Row, name: str) -> str:
    """A text that has to be there, with something in it."""
    found = row.get(name)
    if not isinstance(found, str) or not found:
        raise InvalidAnswer(f"{name} is not told")
    return found


def get_optional_text(row: Row, name: str) -> str:
    """A text; empty where there is none."""
    found = row.get(name)
    if found is None:
        return ""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        raise InvalidAnswer(f"{name} is not a text")
    return str(found)


def get_texts(row: Row, name: str) -> tuple[str, ...]:
    """Several texts; none where there is nothing."""
    found = row.get(name)
    if found is None:
        return ()
    if not isinstance(found, list):
        raise InvalidAnswer(f"{name} is not a list")
    return tuple(str(one) for one in found)


def get_number(row: Row, name: str) -> int:
    """A whole number; 0 where there is nothing, as on the wire."""
    found = row.get(name, 0)
    if isinstance(found, bool) or not isinstance(found, int):
        raise InvalidAnswer(f"{name} is not a whole number")
    return found


def get_seconds(row: Row, name: str) -> float:
    """A moment that has to be there."""
    found = row.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InvalidAnswer(f"{name} is not told")
    return float(found)


def get_flag(row: Row, name: str) -> bool:
    """Yes or no; no where there is nothing, as on the wire."""
    found = row.get(name, False)
    if not isinstance(found, bool):
        raise InvalidAnswer(f"{name} is neither yes nor no")
    return found


def get_required_flag(row: Row, name: str) -> bool:
    """Yes or no that has to be there."""
    if name not in row:
        raise InvalidAnswer(f"{name} is not told")
    return get_flag(row, name)


_NEWEST_MINOR = MINORS[-1]
DATA = "common.Data"


def encode_request(method: str, fields: Mapping[str, object]) -> bytes:
    """The request of a method."""
    from stockman.talos.wire.values import new_message

    return new_message(_newest_schema(), _method(method).request, fields).SerializeToString()


def encode_data(piece: bytes) -> bytes:
    """A piece of something that is sent as a stream of bytes."""
    from stockman.talos.wire.values import new_message

    return new_message(_newest_schema(), DATA, {"bytes": piece}).SerializeToString()


def decode_reply(method: str, message: bytes) -> Row:
    """What a reply of a method holds; raises `OddAnswer`."""
    return decode_message(_method(method).response, message)


def decode_message(name: str, message: bytes) -> Row:
    """What a message holds; raises `OddAnswer`."""
    from google.protobuf.message import DecodeError

    from stockman.talos.wire.values import message_values

    wire = _newest_schema()
    try:
        return message_values(wire, wire.message(name).FromString(message))
    except DecodeError:
        raise InvalidAnswer("its message cannot be read") from None


def single_message(row: Row) -> Row:
    """The one message in an envelope; raises `OddAnswer` where there are none or several."""
    found = get_rows(row, "messages")
    if len(found) != 1:
        raise InvalidAnswer(f"{len(found)} machines answer where one was asked")
    if "metadata" in found[0] and (
        trouble := get_optional_text(get_row(found[0], "metadata"), "error")
    ):
        raise InvalidAnswer(trouble)
    return found[0]


def _method(method: str) -> ApiMethod:
    service, _, name = method.rpartition("/")
    return _newest_schema().method(service, name)


def _newest_schema() -> ApiSchema:
    # Described when it is first needed: the library behind it takes a while to load.
    from stockman.talos.wire.schema import load_api_schema

    return load_api_schema(_NEWEST_MINOR)


T = TypeVar("T")
Fields = Mapping[str, object]
AnyMachine: TypeAlias = MachineAddress | MaintenanceMachine
"""A machine of the cluster, or one in maintenance, which is called without our certificate."""

MACHINE = "machine.MachineService"
CHANGE_SECONDS = 60.0
READ_SECONDS = 20.0


@record
class CallTarget:
    """Whom a call is for."""

    node: MachineAddress
    stranger: MaintenanceMachine | None = None
    """Asked without a certificate of ours. None: with ours."""

    @classmethod
    def of(cls, at: AnyMachine) -> CallTarget:
        if isinstance(at, MaintenanceMachine):
            return cls(node=at.address, stranger=at)
        return cls(node=at)


class ApiCalls:
    """A family of calls over a wire."""

    def __init__(self, wire: TalosTransport) -> None:
        self._wire = wire

    async def _read(
        self,
        method: str,
        at: AnyMachine,
        read: Callable[[Row], T],
        fields: Fields | None = None,
    ) -> T:
        """What a read makes of the one message of an answer."""
        request = build_request(method, at, fields or {})
        return read_answer(
            request, await self._wire.unary(request), lambda row: read(single_message(row))
        )

    async def _change(
        self,
        method: str,
        at: AnyMachine,
        fields: Fields | None = None,
        *,
        seconds: float = CHANGE_SECONDS,
        secrets: tuple[str, ...] = (),
    ) -> Row:
        """Change something; returns the one message of the answer."""
        place = CallTarget.of(at)
        request = TalosRequest(
            method=method,
            node=place.node,
            stranger=place.stranger,
            message=encode_request(method, fields or {}),
            is_read=False,
            seconds=seconds,
            secrets=secrets,
        )
        return read_answer(request, await self._wire.unary(request), single_message)

    async def _each(
        self,
        method: str,
        at: AnyMachine,
        read: Callable[[Row], T],
        fields: Fields | None = None,
        *,
        seconds: float = READ_SECONDS,
    ) -> AsyncGenerator[T, None]:
        """What a read makes of each message of a stream that changes nothing."""
        answers = self._answers(build_request(method, at, fields or {}, seconds), read)
        async with aclosing(answers):
            async for found in answers:
                yield found

    async def _answers(
        self, request: TalosRequest, read: Callable[[Row], T]
    ) -> AsyncGenerator[T, None]:
        """What a read makes of each message of a stream."""
        async with aclosing(self._wire.stream(request)) as answer:
            async for message in answer:
                yield read_answer(request, message, read)


def read_answer(request: TalosRequest, message: bytes, read: Callable[[Row], T]) -> T:
    """What a read makes of a message; an odd one is told as such."""
    try:
        return read(decode_reply(request.method, message))
    except InvalidAnswer as error:
        why = str(error)
    raise invalid_answer_error(request, why)


def build_request(
    method: str,
    at: AnyMachine,
    fields: Fields | None = None,
    seconds: float = READ_SECONDS,
) -> TalosRequest:
    """A call that changes nothing."""
    place = CallTarget.of(at)
    return TalosRequest(
        method=method,
        node=place.node,
        stranger=place.stranger,
        message=b"" if fields is None else encode_request(method, fields),
        seconds=seconds,
    )
