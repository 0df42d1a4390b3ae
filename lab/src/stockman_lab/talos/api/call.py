"""One call of a method on a machine, as the function that answers it sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from stockman.talos.api.transport import GrpcCode

if TYPE_CHECKING:
    from google.protobuf.duration_pb2 import Duration

    from stockman.talos.wire.schema import ApiSchema
    from stockman_lab.core.faults import Fault, Point
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine

_MOST = ((1 << 63) - 1) / 1e9
"""About 292 years: whatever is longer, or as long before, becomes that."""


def seconds_in(duration: Duration) -> float:
    """Seconds of a duration."""
    return max(-_MOST, min(_MOST, duration.seconds + duration.nanos / 1e9))


class Refusal(Exception):
    """A call that ends with a code other than OK."""

    def __init__(self, code: GrpcCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        """The error as Go programs print it."""
        return f"rpc error: code = {self.code.words} desc = {self.message}"


class Cut(Exception):
    """A connection that breaks instead of answering."""


@dataclass(slots=True)
class IncomingCall:
    """A call as it came in."""

    path: str
    """`/machine.MachineService/Version`."""
    pieces: AsyncIterator[bytes]
    """Messages of the caller, encoded."""
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was sent along, names in lower case."""
    roles: frozenset[str] = frozenset()
    """Those of the caller's certificate."""
    peer: str = ""
    """Address of the caller."""


async def single(piece: bytes) -> AsyncIterator[bytes]:
    """The messages of a caller who sends one."""
    yield piece


MAINTENANCE = "maintenance"


class Served(Protocol):
    """A machine's API while it is up."""

    @property
    def mode(self) -> str:
        """`maintenance` (anybody may ask, for little) or `secured`."""

    @property
    def boot(self) -> int:
        """Another number after every boot."""

    @property
    def ca(self) -> str:
        """Certificates in PEM that those of clients have to be signed by."""

    @property
    def certificate(self) -> str:
        """What the machine shows, in PEM."""

    @property
    def key(self) -> str:
        """Its private key, in PEM."""


class ApiMachine(Protocol):
    """What the API asks of a machine."""

    @property
    def hostname(self) -> str: ...

    @property
    def minor(self) -> str:
        """`1.13`."""

    @property
    def is_controlplane(self) -> bool: ...

    @property
    def addresses(self) -> Sequence[str]:
        """Without their prefix lengths."""

    @property
    def api(self) -> Served | None:
        """None: nobody listens."""

    @property
    def clock(self) -> float:
        """The moment that its own clock shows."""

    @property
    def is_on(self) -> bool:
        """Whether its network answers; if not, connections are not even refused."""

    @property
    def facts(self) -> Mapping[str, object]:
        """What faults can be matched by: cluster, machine, vmid, address."""


class ApiFleet(Protocol):
    """What the API asks of the land that machines are in."""

    @property
    def now(self) -> float: ...

    @property
    def machines(self) -> Iterable[ApiMachine]: ...

    def machine_at(self, text: str) -> ApiMachine | None:
        """The machine that has an address or a name."""

    def fault(self, point: Point, facts: Mapping[str, object]) -> Fault | None:
        """A fault that strikes now, and is counted."""


class Patience(Protocol):
    """How a call lets time pass: another door, another way."""

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass in the world."""

    async def changed(self) -> None:
        """Return as soon as anything in the world is different."""


@dataclass(slots=True)
class Call:
    """One call: what is asked, of whom, by whom."""

    land: Fleet
    machine: Machine
    request: Any
    """The message that was sent, of the machine's own minor. Uploads have none here."""
    roles: frozenset[str]
    wire: ApiSchema
    """Messages of the machine's minor."""
    patience: Patience
    method: str = ""
    """`/machine.MachineService/Version`."""
    peer: str = ""
    """Address of who asks."""

    @property
    def now(self) -> float:
        return self.land.now

    @property
    def minor(self) -> str:
        return self.wire.minor

    @property
    def in_maintenance(self) -> bool:
        """Whether the machine has no configuration yet."""
        api = self.machine.api
        return api is not None and api.mode == MAINTENANCE

    async def sleep(self, seconds: float) -> None:
        """Let simulated time pass."""
        await self.patience.sleep(seconds)

    async def changed(self) -> None:
        """Wait until anything in the world changed."""
        await self.patience.changed()


LOST = "error reading from server: EOF"


@dataclass(frozen=True, slots=True)
class BoundPatience:
    """Waits with a machine; a call that waits again after that went down has lost its connection.

    So whatever happened before can be told yet.
    """

    patience: Patience
    machine: ApiMachine
    boot: int

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass in the world."""
        await self.patience.sleep(seconds)
        self._check()

    async def changed(self) -> None:
        """Return as soon as anything in the world is different."""
        self._check()
        await self.patience.changed()

    def _check(self) -> None:
        api = self.machine.api
        if api is None or api.boot != self.boot:
            raise Refusal(GrpcCode.UNAVAILABLE, LOST)
