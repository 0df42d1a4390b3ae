"""Requests, answers and resources of the Talos API. Nothing is guessed: odd answers are errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from stockman.config.source.tree import Unreadable, to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.errors import Rejected
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.api.errors import invalid_answer_error
from stockman.talos.api.transport import TalosRequest, TalosTransport
from stockman.talos.records.operations import MaintenanceMachine
from stockman.talos.wire.tables import MINORS

if TYPE_CHECKING:
    from stockman.talos.wire.schema import ApiMethod, ApiSchema


Row: TypeAlias = Mapping[str, object]


class InvalidAnswer(ValueError):
    """An answer lacks a required field, or a field has an unexpected type; the text says which."""


def get_row(row: Row, name: str) -> Row:
    """Return a required message or mapping."""
    inner = row.get(name)
    if not isinstance(inner, Mapping):
        raise InvalidAnswer(f"{name} is missing")
    return inner


def get_rows(row: Row, name: str) -> tuple[Row, ...]:
    """Return a list of messages; empty if it is absent."""
    rows = row.get(name)
    if rows is None:
        return ()
    if not isinstance(rows, list) or not all(isinstance(item, Mapping) for item in rows):
        raise InvalidAnswer(f"{name} is not a list of messages")
    return tuple(rows)


def get_text(row: Row, name: str) -> str:
    """Return a required text that is not empty."""
    text = row.get(name)
    if not isinstance(text, str) or not text:
        raise InvalidAnswer(f"{name} is missing")
    return text


def get_optional_text(row: Row, name: str) -> str:
    """Return a text; empty if it is absent."""
    text = row.get(name)
    if text is None:
        return ""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise InvalidAnswer(f"{name} is not a text")
    return str(text)


def get_texts(row: Row, name: str) -> tuple[str, ...]:
    """Return a list of texts; empty if it is absent."""
    texts = row.get(name)
    if texts is None:
        return ()
    if not isinstance(texts, list):
        raise InvalidAnswer(f"{name} is not a list")
    return tuple(str(text) for text in texts)


def get_number(row: Row, name: str) -> int:
    """Return a whole number; 0 if it is absent, as in protobuf."""
    number = row.get(name, 0)
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidAnswer(f"{name} is not a whole number")
    return number


def get_seconds(row: Row, name: str) -> float:
    """Return a required time in seconds."""
    seconds = row.get(name)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InvalidAnswer(f"{name} is missing")
    return float(seconds)


def get_flag(row: Row, name: str) -> bool:
    """Return true or false; false if it is absent, as in protobuf."""
    flag = row.get(name, False)
    if not isinstance(flag, bool):
        raise InvalidAnswer(f"{name} is neither true nor false")
    return flag


def get_required_flag(row: Row, name: str) -> bool:
    """Return true or false; it must be present."""
    if name not in row:
        raise InvalidAnswer(f"{name} is missing")
    return get_flag(row, name)


def get_bytes(row: Row, name: str) -> bytes:
    """Return required bytes that are not empty."""
    content = row.get(name)
    if not isinstance(content, bytes) or not content:
        raise InvalidAnswer(f"{name} is missing")
    return content


_NEWEST_MINOR = MINORS[-1]
DATA = "common.Data"


def encode_request(method: str, fields: Mapping[str, object]) -> bytes:
    """Encode the request message of a method."""
    return _encode(_method(method).request, fields)


def encode_data(chunk: bytes) -> bytes:
    """Encode a chunk of an uploaded stream of bytes."""
    return _encode(DATA, {"bytes": chunk})


def _encode(name: str, fields: Mapping[str, object]) -> bytes:
    from stockman.talos.wire.values import new_message

    return new_message(_newest_schema(), name, fields).SerializeToString()


def decode_reply(method: str, message: bytes) -> Row:
    """Return the fields of a method's reply; raises InvalidAnswer."""
    return decode_message(_method(method).response, message)


def decode_message(name: str, message: bytes) -> Row:
    """Return the fields of a message; raises InvalidAnswer."""
    from google.protobuf.message import DecodeError

    from stockman.talos.wire.values import message_values

    schema = _newest_schema()
    try:
        return message_values(schema, schema.message(name).FromString(message))
    except DecodeError:
        raise InvalidAnswer("its message cannot be decoded") from None


def single_message(row: Row) -> Row:
    """Return the only message of an envelope; raises InvalidAnswer if there is not exactly one."""
    messages = get_rows(row, "messages")
    if len(messages) != 1:
        raise InvalidAnswer(f"expected the answer of one machine, got {len(messages)}")
    (message,) = messages
    if "metadata" in message and (
        error := get_optional_text(get_row(message, "metadata"), "error")
    ):
        raise InvalidAnswer(error)
    return message


def _method(method: str) -> ApiMethod:
    service, _, name = method.rpartition("/")
    return _newest_schema().method(service, name)


def _newest_schema() -> ApiSchema:
    # Imported on first use: the protobuf library takes a while to load.
    from stockman.talos.wire.schema import load_api_schema

    return load_api_schema(_NEWEST_MINOR)


T = TypeVar("T")
Fields = Mapping[str, object]
AnyMachine: TypeAlias = MachineAddress | MaintenanceMachine
"""A machine of the cluster, or one in maintenance, which is called without a client certificate."""

MACHINE = "machine.MachineService"
CHANGE_SECONDS = 60.0
READ_SECONDS = 20.0
_GET, _LIST = "cosi.resource.State/Get", "cosi.resource.State/List"
_LARGEST_RESOURCE = 1 << 20
_LARGEST_FILE = 32 << 20


@record
class ResourceKind:
    """A kind of resources, and their namespace."""

    namespace: str
    type: str

    def query(self, name: str | None = None) -> Fields:
        """Return the request for one resource, or for all of the kind."""
        fields = {"namespace": self.namespace, "type": self.type, "options": {}}
        return fields if name is None else {**fields, "id": name}


def build_request(
    method: str, at: AnyMachine, fields: Fields | None = None, seconds: float = READ_SECONDS
) -> TalosRequest:
    """Return the request of a call that changes nothing."""
    return TalosRequest(
        method=method,
        node=at.address if isinstance(at, MaintenanceMachine) else at,
        stranger=at if isinstance(at, MaintenanceMachine) else None,
        message=b"" if fields is None else encode_request(method, fields),
        seconds=seconds,
    )


def build_change(
    method: str, at: AnyMachine, fields: Fields, seconds: float = CHANGE_SECONDS
) -> TalosRequest:
    """Return the request of a call that changes something."""
    return replace(build_request(method, at, fields, seconds), is_read=False)


def read_answer(request: TalosRequest, message: bytes, read: Callable[[Row], T]) -> T:
    """Return what `read` makes of a reply; raises Rejected for an invalid one."""
    try:
        return read(decode_reply(request.method, message))
    except InvalidAnswer as error:
        raise invalid_answer_error(request, str(error)) from None


def invalid_answer(method: str, at: AnyMachine, why: str) -> Rejected:
    """Return the error of an invalid answer of a method."""
    return invalid_answer_error(build_request(method, at), why)


class ApiCalls:
    """Calls over a transport: methods, streams, resources and files."""

    def __init__(self, transport: TalosTransport) -> None:
        self._transport = transport

    async def _read(
        self, method: str, at: AnyMachine, read: Callable[[Row], T], fields: Fields | None = None
    ) -> T:
        """Return what `read` makes of the answer of one machine."""
        request = build_request(method, at, fields or {})
        reply = await self._transport.unary(request)
        return read_answer(request, reply, lambda row: read(single_message(row)))

    async def _change(
        self,
        method: str,
        at: AnyMachine,
        fields: Fields | None = None,
        *,
        seconds: float = CHANGE_SECONDS,
        secrets: tuple[str, ...] = (),
    ) -> Row:
        """Change something, and return the answer of the machine; `secrets` are never shown."""
        request = replace(build_change(method, at, fields or {}, seconds), secrets=secrets)
        return read_answer(request, await self._transport.unary(request), single_message)

    async def _each(
        self,
        method: str,
        at: AnyMachine,
        read: Callable[[Row], T],
        fields: Fields | None = None,
        *,
        seconds: float = READ_SECONDS,
    ) -> AsyncGenerator[T, None]:
        """Yield what `read` makes of each message of a stream that changes nothing."""
        answers = self._answers(build_request(method, at, fields or {}, seconds), read)
        async with aclosing(answers):
            async for answer in answers:
                yield answer

    async def _answers(
        self, request: TalosRequest, read: Callable[[Row], T]
    ) -> AsyncGenerator[T, None]:
        """Yield what `read` makes of each message of a stream."""
        async with aclosing(self._transport.stream(request)) as messages:
            async for message in messages:
                yield read_answer(request, message, read)

    async def _resource(
        self, at: AnyMachine, kind: ResourceKind, name: str, read: Callable[[Row], T]
    ) -> T:
        """Return what `read` makes of one resource; raises NotFound if it does not exist."""
        request = build_request(_GET, at, kind.query(name))
        reply = await self._transport.unary(request)
        return read_answer(request, reply, lambda row: read(_read_resource(row)[1]))

    async def _resources(
        self, at: AnyMachine, kind: ResourceKind, read: Callable[[str, Row], T]
    ) -> tuple[T, ...]:
        """Return what `read` makes of the ID and content of each resource of a kind."""
        rows = self._each(_LIST, at, lambda row: read(*_read_resource(row)), kind.query())
        return tuple([row async for row in rows])

    async def _encoded_resource(self, at: MachineAddress, kind: ResourceKind, name: str) -> bytes:
        """Return one resource as protobuf."""
        request = build_request(_GET, at, kind.query(name))
        reply = await self._transport.unary(request)
        return read_answer(
            request,
            reply,
            lambda row: get_bytes(get_row(get_row(row, "resource"), "spec"), "proto_spec"),
        )

    async def read_file(self, node: MachineAddress, path: str) -> bytes:
        """Return the content of a file; raises NotFound if it does not exist."""
        return await self._read_stream(f"{MACHINE}/Read", node, {"path": path}, _LARGEST_FILE)

    async def write_meta(self, node: MachineAddress, key: int, value: Secret) -> None:
        """Set a META value."""
        secret = value.reveal()
        fields = {"key": key, "value": secret.encode()}
        await self._change(f"{MACHINE}/MetaWrite", node, fields, secrets=(secret,))

    async def _read_stream(
        self, method: str, node: MachineAddress, fields: Fields, largest: int
    ) -> bytes:
        """Return all bytes of a stream; raises Rejected if there are too many."""
        content = bytearray()
        async with aclosing(self._each(method, node, chunk_bytes, fields)) as chunks:
            async for chunk in chunks:
                content += chunk
                if len(content) > largest:
                    raise invalid_answer(method, node, f"it is over {largest >> 20} MiB")
        return bytes(content)


def _read_resource(row: Row) -> tuple[str, Row]:
    """Return ID and content, read as YAML: its form is the same in every minor."""
    resource = get_row(row, "resource")
    name = get_text(get_row(resource, "metadata"), "id")
    text = get_text(get_row(resource, "spec"), "yaml_spec")
    if len(text) > _LARGEST_RESOURCE:
        raise InvalidAnswer(f"{name} is over {_LARGEST_RESOURCE >> 20} MiB")
    try:
        content = to_plain_data(read_yaml("spec", text))
    except Unreadable:
        raise InvalidAnswer(f"{name} is not YAML") from None
    if not isinstance(content, dict):
        raise InvalidAnswer(f"{name} is not a mapping")
    return name, content


def chunk_bytes(row: Row) -> bytes:
    """Return the bytes of one message of a stream; raises InvalidAnswer for an error."""
    metadata = row.get("metadata")
    if isinstance(metadata, dict) and metadata.get("error"):
        raise InvalidAnswer(str(metadata["error"]))
    chunk = row.get("bytes", b"")
    if not isinstance(chunk, bytes):
        raise InvalidAnswer("bytes is missing")
    return chunk
