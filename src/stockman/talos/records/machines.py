"""What a machine is and how it is: version, services, disks, links, etcd and Kubernetes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import datetime

from stockman.model.names import Mac
from stockman.model.record import record
from stockman.model.version import Version


@record
class TalosVersion:
    """The running Talos, and its platform."""

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
    """Stage and readiness of a machine."""

    stage: str
    """`booting`, `installing`, `maintenance`, `running`, `rebooting`, `upgrading`, ..."""
    ready: bool
    unmet: tuple[UnmetCondition, ...] = ()

    @property
    def is_up(self) -> bool:
        """Whether it is running and ready, with all conditions met."""
        return self.stage == "running" and self.ready and not self.unmet


@record
class Service:
    """A service of Talos."""

    id: str
    state: str
    """`Running`, `Waiting`, `Failed`, `Finished`, ..."""
    healthy: bool | None
    """None: unknown, or it has no health check."""
    message: str = ""
    """Last message of its health check."""
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
    """The clocks of a machine and of its time server."""

    server: str
    local: datetime
    remote: datetime

    @property
    def skew(self) -> float:
        """Seconds by which the clock of the machine is ahead."""
        return (self.local - self.remote).total_seconds()


@record
class TimeSync:
    """Whether a machine's clock follows a time server."""

    synced: bool
    disabled: bool = False


@record
class DiscoveredMember:
    """A machine of the cluster, as another machine discovered it."""

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
    """`virtio`, `sata`, `nvme`. Empty: unknown."""
    read_only: bool = False
    is_cdrom: bool = False


@record
class Link:
    """A network link as the kernel of a machine has it."""

    name: str
    """`eth0`, `ens18`, `eth0.62`; it depends on kernel settings, so nothing follows from it."""
    kind: str
    """`vlan`, `bond`, `bridge`, ... Empty: a card."""
    type: str
    """`ether`, `loopback`."""
    mac: Mac
    """The permanent address of a card, even if its bond gives it another."""
    mtu: int
    state: str
    """`up`, `down`, `unknown`, ..."""
    has_carrier: bool
    bus_path: str = ""
    driver: str = ""
    vlan: int | None = None
    """None: not a VLAN, or one that is invisible to the guest."""

    @property
    def is_card(self) -> bool:
        """Whether it is a network card, and not created by the kernel."""
        is_real = bool(self.bus_path) or self.driver == "virtio_net"
        return self.type == "ether" and not self.kind and is_real

    @property
    def is_up(self) -> bool:
        return self.state == "up" and self.has_carrier


@record
class LinkAddress:
    """An address on a link."""

    address: str
    """With its prefix length, `10.42.0.11/16`."""
    link: str


def network_cards(links: Iterable[Link]) -> tuple[Link, ...]:
    """Return the links that are network cards."""
    return tuple(link for link in links if link.is_card)


@record
class EventsRequest:
    """Which past events to return; future events are always returned."""

    last: int = 0
    """Number of past events; negative: all."""
    after: str = ""
    """Return all events after the one with this ID."""
    actor: str = ""
    """Only events of this actor. Empty: of all."""


@record
class Event:
    """An event on a machine."""

    id: str
    actor: str
    kind: str
    """`SequenceEvent`, `MachineStatusEvent`. Empty: the first message of a stream."""
    content: dict[str, object] = field(default_factory=dict)


@record
class ServiceLogRequest:
    """Which log to return."""

    service: str
    """`etcd`, `kubelet`."""
    last: int = -1
    """Number of lines from its end; negative: all."""
    follow: bool = False


@record
class EtcdMember:
    """A member of etcd."""

    id: int
    hostname: str
    """Empty: it has not started yet."""
    is_learner: bool
    peer_urls: tuple[str, ...] = ()
    client_urls: tuple[str, ...] = ()

    @property
    def hex(self) -> str:
        """The ID as etcd prints it."""
        return f"{self.id:016x}"


@record
class EtcdStatus:
    """Status of one member."""

    member: int
    leader: int | None
    """None: there is no leader, so nothing can be written."""
    is_learner: bool
    db_size: int
    """Bytes."""
    db_in_use: int
    """Bytes that are in use."""
    raft_term: int
    raft_index: int
    raft_applied: int
    errors: tuple[str, ...] = ()
    version: str = ""
    storage_version: str = ""

    @property
    def is_leader(self) -> bool:
        return self.leader == self.member


@record
class EtcdAlarm:
    """An alarm that a member raised."""

    member: int
    alarm: str
    """`NOSPACE`, `CORRUPT`."""


@record
class StaticPod:
    """A pod of the control plane on one machine."""

    id: str
    """`kube-system/kube-apiserver-cp-1`."""
    ready: bool
    phase: str = ""


@record
class KubeletState:
    """The kubelet of a machine."""

    image: str
    nodename: str


@record
class KubernetesNode:
    """The machine as Kubernetes sees it."""

    name: str
    ready: bool
    unschedulable: bool
