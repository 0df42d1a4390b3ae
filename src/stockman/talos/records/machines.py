"""What a machine is and how it is: version, stage, services, extensions, clock, neighbours."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from dataclasses import field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from stockman.model.names import Mac, MachineAddress, SchematicId
from stockman.model.record import record
from stockman.model.secret import Secret
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
class DiscoveredMember:
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

    async def neighbours(self, node: MachineAddress) -> tuple[DiscoveredMember, ...]:
        """All members of the cluster that discovery has found, the machine itself too."""
        ...


@record
class Disk:
    """A disk, or a drive."""

    path: str
    """`/dev/sda`."""
    size: int
    """Bytes."""
    model: str = ""
    serial: str = ""
    wwid: str = ""
    transport: str = ""
    """`virtio`, `sata`, `nvme`. Empty: not told."""
    read_only: bool = False
    is_cdrom: bool = False


class Disks(Protocol):
    """The disks of a machine."""

    async def disks(self, node: MachineAddress) -> tuple[Disk, ...]:
        """All disks and drives, by path."""
        ...

    async def system_disk(self, node: MachineAddress) -> str | None:
        """Where Talos is installed, `/dev/sda`. None: nowhere, it runs in memory."""
        ...


@record
class Link:
    """A network link as the kernel of a machine has it."""

    name: str
    """`eth0`, `ens18`, `eth0.62`: it depends on settings of the kernel, and tells nothing."""
    kind: str
    """Empty: a card. Else `vlan`, `bond`, `bridge`, ..."""
    type: str
    """`ether`, `loopback`."""
    mac: Mac
    """Of a card its own, also where a bond gives all of its cards the same."""
    mtu: int
    state: str
    """`up`, `down`, `unknown`, ..."""
    has_carrier: bool
    bus_path: str = ""
    driver: str = ""
    vlan: int | None = None
    """None: not a VLAN, or one that the guest does not see."""

    @property
    def is_card(self) -> bool:
        """Whether it is a network card, and not made by the kernel."""
        is_real = bool(self.bus_path) or self.driver == "virtio_net"
        return self.type == "ether" and not self.kind and is_real

    @property
    def is_up(self) -> bool:
        return self.state == "up" and self.has_carrier


@record
class LinkAddress:
    """An address on a link."""

    address: str
    """With the length of its prefix: `10.42.0.11/16`."""
    link: str


def network_cards(links: Iterable[Link]) -> tuple[Link, ...]:
    """The network cards among links."""
    return tuple(one for one in links if one.is_card)


class Networks(Protocol):
    """The network of a machine."""

    async def hostname(self, node: MachineAddress) -> str:
        """The name that the machine gives itself."""
        ...

    async def addresses(self, node: MachineAddress) -> tuple[LinkAddress, ...]:
        """All addresses, a shared one too where the machine holds it."""
        ...

    async def links(self, node: MachineAddress) -> tuple[Link, ...]:
        """All links, by name."""
        ...


class Files(Protocol):
    """Files and META values."""

    async def read_file(self, node: MachineAddress, path: str) -> bytes:
        """The content of a file. `NotFound` where there is none."""
        ...

    async def write_meta(self, node: MachineAddress, key: int, value: Secret) -> None:
        """Set a META value."""
        ...

    async def delete_meta(self, node: MachineAddress, key: int) -> None:
        """Take a META value away. `NotFound` where there is none."""
        ...


@record
class EventsRequest:
    """Which events are wanted; those that follow always are."""

    last: int = 0
    """So many of those that were; below zero: all of them."""
    after: str = ""
    """All after the one with this id."""
    actor: str = ""
    """Only those of one actor. Empty: of all."""


@record
class Event:
    """Something that happened on a machine."""

    id: str
    actor: str
    kind: str
    """`SequenceEvent`, `MachineStatusEvent`. Empty: the greeting that each stream begins with."""
    content: dict[str, object] = field(default_factory=dict)


@record
class ServiceLogRequest:
    """Which log is wanted."""

    service: str
    """`etcd`, `kubelet`."""
    last: int = -1
    """So many lines from its end; below zero: all of them."""
    follow: bool = False


class Observing(Protocol):
    """What happens on a machine, told as it happens."""

    def events(
        self, node: MachineAddress, wish: EventsRequest | None = None
    ) -> AsyncGenerator[Event, None]:
        """Events; after the greeting nothing is missed. It ends when the machine goes down."""
        ...

    def service_log(
        self, node: MachineAddress, wish: ServiceLogRequest
    ) -> AsyncGenerator[str, None]:
        """Lines of the log of a service."""
        ...

    def kernel_log(
        self, node: MachineAddress, *, follow: bool = False
    ) -> AsyncGenerator[str, None]:
        """Lines of the log of the kernel."""
        ...
