"""Resources: what machines keep of their state, by kind and id.

They are read as YAML: that form is the same in every minor, the other is not.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TypeVar

from stockman.config.source.tree import Unreadable, to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.errors import Rejected
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.api.calls import (
    MACHINE,
    AnyMachine,
    ApiCalls,
    Fields,
    InvalidAnswer,
    Row,
    build_request,
    get_row,
    get_text,
    read_answer,
)
from stockman.talos.api.errors import invalid_answer_error

T = TypeVar("T")
_GET, _LIST = "cosi.resource.State/Get", "cosi.resource.State/List"
_LARGEST = 1 << 20


@record
class ResourceKind:
    """A kind of resources, and where they are."""

    namespace: str
    type: str


class ResourceCalls(ApiCalls):
    """Reads of resources."""

    async def _resource(
        self,
        at: AnyMachine,
        kind: ResourceKind,
        name: str,
        read: Callable[[Row], T],
    ) -> T:
        """What a read makes of one resource; `NotFound` where there is none."""
        fields = {"namespace": kind.namespace, "type": kind.type, "id": name, "options": {}}
        request = build_request(_GET, at, fields)
        answer = await self._wire.unary(request)
        return read_answer(
            request, answer, lambda row: read(_read_resource(get_row(row, "resource"))[1])
        )

    async def _resources(
        self,
        at: AnyMachine,
        kind: ResourceKind,
        read: Callable[[str, Row], T],
    ) -> tuple[T, ...]:
        """What a read makes of each resource of a kind, with its id."""
        fields = {"namespace": kind.namespace, "type": kind.type, "options": {}}
        rows = self._each(
            _LIST, at, lambda row: read(*_read_resource(get_row(row, "resource"))), fields
        )
        return tuple([found async for found in rows])

    async def _encoded_resource(self, at: MachineAddress, kind: ResourceKind, name: str) -> bytes:
        """One resource in its other form."""
        fields = {"namespace": kind.namespace, "type": kind.type, "id": name, "options": {}}
        request = build_request(_GET, at, fields)
        answer = await self._wire.unary(request)
        return read_answer(request, answer, _protobuf_spec)


def _read_resource(resource: Row) -> tuple[str, Row]:
    name = get_text(get_row(resource, "metadata"), "id")
    written = get_text(get_row(resource, "spec"), "yaml_spec")
    if len(written) > _LARGEST:
        raise InvalidAnswer(f"{name} is over {_LARGEST >> 20} MiB")
    try:
        found = to_plain_data(read_yaml("spec", written))
    except Unreadable:
        raise InvalidAnswer(f"{name} is no YAML") from None
    if not isinstance(found, dict):
        raise InvalidAnswer(f"{name} is not a mapping")
    return name, found


def _protobuf_spec(row: Row) -> bytes:
    found = get_row(get_row(row, "resource"), "spec").get("proto_spec")
    if not isinstance(found, bytes) or not found:
        raise InvalidAnswer("proto_spec is not told")
    return found


_LARGEST_FILE = 32 << 20


class FileCalls(ResourceCalls):
    """Files and META values."""

    async def read_file(self, node: MachineAddress, path: str) -> bytes:
        """The content of a file. `NotFound` where there is none."""
        return await self._whole(f"{MACHINE}/Read", node, {"path": path}, _LARGEST_FILE)

    async def write_meta(self, node: MachineAddress, key: int, value: Secret) -> None:
        """Set a META value."""
        secret = value.reveal()
        fields = {"key": key, "value": secret.encode()}
        await self._change(f"{MACHINE}/MetaWrite", node, fields, secrets=(secret,))

    async def _whole(
        self, method: str, node: MachineAddress, fields: Fields, largest: int
    ) -> bytes:
        """All bytes of a stream, where they are not too many."""
        found = bytearray()
        async with aclosing(self._each(method, node, chunk_bytes, fields)) as pieces:
            async for one in pieces:
                found += one
                if len(found) > largest:
                    raise self._odd(method, node, f"it is over {largest >> 20} MiB")
        return bytes(found)

    def _odd(self, method: str, node: MachineAddress, why: str) -> Rejected:
        return invalid_answer_error(build_request(method, node), why)


def chunk_bytes(row: Row) -> bytes:
    """The bytes of one message of a stream; raises `OddAnswer` where it tells of an error."""
    about = row.get("metadata")
    if isinstance(about, dict) and about.get("error"):
        raise InvalidAnswer(str(about["error"]))
    found = row.get("bytes", b"")
    if not isinstance(found, bytes):
        raise InvalidAnswer("bytes is not told")
    return found
