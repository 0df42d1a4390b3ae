"""Requests of the Talos API, their transport, and the status codes of gRPC."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import field
from enum import IntEnum
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.talos.records.operations import MaintenanceMachine


class GrpcCode(IntEnum):
    """Status code of a call."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16

    @property
    def words(self) -> str:
        """The code as Go programs print it: `PermissionDenied`."""
        if self is GrpcCode.OK:
            return "OK"
        if self is GrpcCode.CANCELLED:
            return "Canceled"
        return self.name.title().replace("_", "")


@record
class TalosRequest:
    """One call of the API."""

    method: str
    """`machine.MachineService/Version`."""
    node: MachineAddress
    """The target machine."""
    message: bytes = field(default=b"", repr=False)
    """The encoded request message. An upload has none."""
    is_read: bool = True
    """Whether it changes nothing, and may be repeated."""
    stranger: MaintenanceMachine | None = None
    """Called without a client certificate. None: with ours."""
    seconds: float = 20.0
    """Timeout of the whole call, or of each message of a stream."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that must not be shown."""

    @property
    def shown(self) -> str:
        """The call without its message, which may be confidential."""
        return f"{self.method.rpartition('.')[2]} on {self.node}"


class TalosTransport(Protocol):
    """Sends requests. A failed call raises the error of `errors.call_error`."""

    async def unary(self, request: TalosRequest) -> bytes:
        """Send one message, and return one."""
        ...

    def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        """Send one message, and yield the answers as fast as they are consumed."""
        ...

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        """Send many messages, and return one."""
        ...
