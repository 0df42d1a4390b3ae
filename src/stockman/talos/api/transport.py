"""Codes that a call ends with, as gRPC counts them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import field
from enum import IntEnum
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.talos.records.operations import MaintenanceMachine


class GrpcCode(IntEnum):
    """What became of a call."""

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
    """The machine that is meant."""
    message: bytes = field(default=b"", repr=False)
    """What is asked, encoded. An upload has none."""
    is_read: bool = True
    """Whether it leaves the machine as it is, and may be made again."""
    stranger: MaintenanceMachine | None = None
    """Asked without a certificate of ours. None: with ours."""
    seconds: float = 20.0
    """For the whole call; of a stream for each message."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that nobody may see."""

    @property
    def shown(self) -> str:
        """The call without its message, which may be confidential."""
        return f"{self.method.rpartition('.')[2]} on {self.node}"


class TalosTransport(Protocol):
    """Carries calls. A call that is refused raises what `refusals.refusal` makes of it."""

    async def unary(self, request: TalosRequest) -> bytes:
        """One message for one message."""
        ...

    def stream(self, request: TalosRequest) -> AsyncGenerator[bytes, None]:
        """Many messages for one message, no faster than they are taken."""
        ...

    async def upload(self, request: TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        """One message for many messages."""
        ...
