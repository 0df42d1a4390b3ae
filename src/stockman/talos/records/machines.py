"""What a machine is and how it is: version, stage, services, extensions, clock, neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import datetime

from stockman.model.names import Mac
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
