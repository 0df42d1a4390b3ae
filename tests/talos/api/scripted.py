"""A wire that answers as it is told to, and writes down what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence

from stockman.model.names import MachineAddress
from stockman.talos.api.calls import _NEWEST_MINOR
from stockman.talos.api.client import TalosClient
from stockman.talos.api.transport import TalosRequest
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import new_message

NODE = MachineAddress("10.42.0.11")
Answer = bytes | Mapping[str, object]


class ScriptedWire:
    """Answers of methods, by their names; fields are encoded."""

    def __init__(self, **answers: Sequence[Answer]) -> None:
        self._answers = answers
        self.asked: list[TalosRequest] = []

    async def unary(self, request: TalosRequest) -> bytes:
        return self._encoded(request)[0]

    async def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        for message in self._encoded(request):
            yield message

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        async for _ in messages:
            pass
        return self._encoded(request)[0]

    def _encoded(self, request: TalosRequest) -> list[bytes]:
        self.asked.append(request)
        service, _, name = request.method.rpartition("/")
        wire = load_api_schema(_NEWEST_MINOR)
        response = wire.method(service, name).response
        return [
            message
            if isinstance(message, bytes)
            else new_message(wire, response, message).SerializeToString()
            for message in self._answers[name]
        ]


def told(**answers: Sequence[Answer]) -> TalosClient:
    """The port, with answers behind it."""
    return TalosClient(ScriptedWire(**answers))


def resource(spec: str, name: str = "machine") -> Mapping[str, object]:
    """An answer that holds a resource."""
    return {"resource": {"metadata": {"id": name}, "spec": {"yaml_spec": spec}}}
