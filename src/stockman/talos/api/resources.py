"""Resources: what machines keep of their state, by kind and id.

They are read as YAML: that form is the same in every minor, the other is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import untyped
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.ports.talos.maintenance import Stranger
from stockman.talos.api.calls import Calls, read_answer, request_for
from stockman.talos.api.rows import OddAnswer, Row, part, text

T = TypeVar("T")
_GET, _LIST = "cosi.resource.State/Get", "cosi.resource.State/List"
_LARGEST = 1 << 20


@record
class Kind:
    """A kind of resources, and where they are."""

    namespace: str
    type: str


class ResourceCalls(Calls):
    """Reads of resources."""

    async def _resource(
        self,
        at: MachineAddress | Stranger,
        kind: Kind,
        name: str,
        read: Callable[[Row], T],
    ) -> T:
        """What a read makes of one resource; `NotFound` where there is none."""
        fields = {"namespace": kind.namespace, "type": kind.type, "id": name, "options": {}}
        request = request_for(_GET, at, fields)
        answer = await self._wire.unary(request)
        return read_answer(request, answer, lambda row: read(_mapping(part(row, "resource"))[1]))

    async def _resources(
        self,
        at: MachineAddress | Stranger,
        kind: Kind,
        read: Callable[[str, Row], T],
    ) -> tuple[T, ...]:
        """What a read makes of each resource of a kind, with its id."""
        fields = {"namespace": kind.namespace, "type": kind.type, "options": {}}
        rows = self._each(_LIST, at, lambda row: read(*_mapping(part(row, "resource"))), fields)
        return tuple([found async for found in rows])

    async def _encoded_resource(self, at: MachineAddress, kind: Kind, name: str) -> bytes:
        """One resource in its other form."""
        fields = {"namespace": kind.namespace, "type": kind.type, "id": name, "options": {}}
        request = request_for(_GET, at, fields)
        answer = await self._wire.unary(request)
        return read_answer(request, answer, _encoded)


def _mapping(resource: Row) -> tuple[str, Row]:
    name = text(part(resource, "metadata"), "id")
    written = text(part(resource, "spec"), "yaml_spec")
    if len(written) > _LARGEST:
        raise OddAnswer(f"{name} is over {_LARGEST >> 20} MiB")
    try:
        found = untyped(read_yaml("spec", written))
    except Unreadable:
        raise OddAnswer(f"{name} is no YAML") from None
    if not isinstance(found, dict):
        raise OddAnswer(f"{name} is not a mapping")
    return name, found


def _encoded(row: Row) -> bytes:
    found = part(part(row, "resource"), "spec").get("proto_spec")
    if not isinstance(found, bytes) or not found:
        raise OddAnswer("proto_spec is not told")
    return found
