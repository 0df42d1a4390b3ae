"""What a machine is and how it is: version, stage, services, extensions, clock, neighbours."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol
from uuid import UUID

from stockman.model.names import MachineAddress, SchematicId
from stockman.model.record import record
from stockman.model.version import Version


@record
class TalosVersion:
    """Which Talos runs, and where."""

    tag: str
    """`v1.13.9`."""
    platform: str
    """`nocloud`, `metal`."""
    mode: str
    """`cloud`, `metal`, `container`."""
    architecture: str = ""
    """`amd64`."""

    @property
    def parsed(self) -> Version:
        return Version.parse(self.tag)


@record
class UnmetCondition:
    """Why a machine is not ready."""

    name: str
    reason: str


@record
class MachineStatus:
    """How far a machine is."""

    stage: str
    """`booting`, `installing`, `maintenance`, `running`, `rebooting`, `upgrading`, ..."""
    ready: bool
    unmet: tuple[UnmetCondition, ...] = ()

    @property
    def is_up(self) -> bool:
        """Whether it runs and lacks nothing."""
        return self.stage == "running" and self.ready and not self.unmet


@record
class Service:
    """A service of Talos."""

    id: str
    state: str
    """`Running`, `Waiting`, `Failed`, `Finished`, ..."""
    healthy: bool | None
    """None: it does not know, or does not check."""
    message: str = ""
    """What its health check said last."""
    last_event: str = ""

    @property
    def is_running(self) -> bool:
        return self.state == "Running"


@record
class Extension:
    """A system extension in the image that was booted."""

    name: str
    version: str


@record
class Diagnostic:
    """Something that Talos itself finds wrong."""

    id: str
    message: str
    details: tuple[str, ...] = ()


@record
class ClockReading:
    """The clock of a machine beside that of its time server."""

    server: str
    local: datetime
    remote: datetime

    @property
    def skew(self) -> float:
        """Seconds that the machine is ahead."""
        return (self.local - self.remote).total_seconds()


@record
class TimeSync:
    """Whether a machine's clock follows a time server."""

    synced: bool
    disabled: bool = False


@record
class Neighbour:
    """A machine of the cluster as another one sees it."""

    hostname: str
    role: str
    """`controlplane` or `worker`."""
    addresses: tuple[str, ...]
    operating_system: str = ""
    """`Talos (v1.13.9)`."""


class Machines(Protocol):
    """Machines, one at a time."""

    async def version(self, node: MachineAddress) -> TalosVersion:
        """Which Talos runs."""
        ...

    async def system_uuid(self, node: MachineAddress) -> UUID:
        """The UUID that its firmware tells: that of its VM."""
        ...

    async def machine_status(self, node: MachineAddress) -> MachineStatus:
        """How far the machine is."""
        ...

    async def services(self, node: MachineAddress) -> tuple[Service, ...]:
        """All services, by name."""
        ...

    async def restart_service(self, node: MachineAddress, service: str) -> None:
        """Stop a service and start it again."""
        ...

    async def boot_id(self, node: MachineAddress) -> str:
        """Another one after every boot. `Denied` for others than admins before Talos 1.14."""
        ...

    async def extensions(self, node: MachineAddress) -> tuple[Extension, ...]:
        """Extensions of the image that was booted, without its schematic."""
        ...

    async def schematic(self, node: MachineAddress) -> SchematicId | None:
        """What the image was made of. None: it does not come from an Image Factory."""
        ...

    async def clock_reading(self, node: MachineAddress) -> ClockReading:
        """The clocks of the machine and of its time server."""
        ...

    async def time_sync(self, node: MachineAddress) -> TimeSync:
        """Whether the clock is in sync."""
        ...

    async def diagnostics(self, node: MachineAddress) -> tuple[Diagnostic, ...]:
        """What Talos itself finds wrong. Empty: nothing."""
        ...

    async def neighbours(self, node: MachineAddress) -> tuple[Neighbour, ...]:
        """All members of the cluster that discovery has found, the machine itself too."""
        ...
