"""What a call consists of, whatever carries it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import field
from typing import Protocol

from stockman.model.names import MachineAddress
from stockman.model.record import record
from stockman.ports.talos.maintenance import Stranger


@record
class Request:
    """One call of the API."""

    method: str
    """`machine.MachineService/Version`."""
    node: MachineAddress
    """The machine that is meant."""
    message: bytes = field(default=b"", repr=False)
    """What is asked, encoded. An upload has none."""
    is_read: bool = True
    """Whether it leaves the machine as it is, and may be made again."""
    stranger: Stranger | None = None
    """Asked without a certificate of ours. None: with ours."""
    seconds: float = 20.0
    """For the whole call; of a stream for each message."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Texts that nobody may see."""

    @property
    def shown(self) -> str:
        """The call without its message, which may be confidential."""
        return f"{self.method.rpartition('.')[2]} on {self.node}"


class Wire(Protocol):
    """Carries calls. A call that is refused raises what `refusals.refusal` makes of it."""

    async def unary(self, request: Request) -> bytes:
        """One message for one message."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Many messages for one message, no faster than they are taken."""
        ...

    async def upload(self, request: Request, messages: AsyncIterable[bytes]) -> bytes:
        """One message for many messages."""
        ...
