"""What is kept of a Talos machine while it has power; what outlasts that is on its disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from stockman_lab.etcd.cluster import EtcdCluster


class Stage(Enum):
    """Where a machine is in its life, in the words of `MachineStatus`."""

    OFF = "off"
    """Without power; no machine ever says so."""
    BOOTING = "booting"
    INSTALLING = "installing"
    MAINTENANCE = "maintenance"
    RUNNING = "running"
    REBOOTING = "rebooting"
    SHUTTING_DOWN = "shutting down"
    RESETTING = "resetting"
    UPGRADING = "upgrading"


@dataclass(slots=True)
class ServiceEvent:
    """A service that changed its state."""

    state: str
    """`Preparing`, `Running`, `Failed`."""
    message: str
    at: float


@dataclass(slots=True)
class Service:
    """One service of a machine."""

    id: str
    state: str = "Initialized"
    events: list[ServiceEvent] = field(default_factory=list)
    is_healthy: bool | None = None
    """None: nobody knows, or nobody asks."""
    health_message: str = ""
    health_changed_at: float = 0.0
    version: int = 0
    """Rises with every change; what was planned for an older one does not happen."""

    @property
    def is_running(self) -> bool:
        return self.state == "Running"


@dataclass(slots=True)
class MachineEvent:
    """Something that those who follow a machine are told."""

    id: str
    """Grows with time, also over reboots."""
    kind: str
    """Of the message: `machine.TaskEvent`."""
    content: dict[str, object]
    actor: str
    """Whose request it belongs to. Empty: nobody's."""
    at: float


@dataclass(slots=True)
class LogLine:
    """One line of a log."""

    at: float
    text: str
    facility: str = "user"
    priority: str = "warning"


@dataclass(slots=True)
class LinkState:
    """A network link as the machine set it up."""

    name: str
    index: int
    kind: str = ""
    """`vlan`, `bond`, `bridge`, `dummy`. Empty: a real card, or the loopback."""
    mac: str = ""
    permanent_mac: str = ""
    mtu: int = 1500
    is_up: bool = True
    parent: str = ""
    """Of a VLAN: the link it is on."""
    vlan: int = 0
    master: str = ""
    """The bond or bridge that it belongs to."""
    driver: str = ""
    bus_path: str = ""
    nic: int = -1
    """Number of the card on the side of Proxmox VE. -1: it is no card."""
    bond_mode: str = ""


@dataclass(slots=True)
class AddressState:
    """An address of a link."""

    address: str
    """With prefix."""
    link: str
    layer: str = "configuration"
    """Who wanted it: default, cmdline, platform, operator, configuration."""
    scope: str = "global"
    is_vip: bool = False


@dataclass(slots=True)
class RouteState:
    """A route."""

    destination: str
    """Empty: the default route."""
    gateway: str
    link: str
    priority: int = 1024
    layer: str = "configuration"


@dataclass(slots=True)
class NetworkState:
    """The network of a machine."""

    hostname: str = ""
    domain: str = ""
    links: list[LinkState] = field(default_factory=list)
    addresses: list[AddressState] = field(default_factory=list)
    routes: list[RouteState] = field(default_factory=list)
    resolvers: list[str] = field(default_factory=list)
    search_domains: list[str] = field(default_factory=list)
    time_servers: list[str] = field(default_factory=list)
    vip_link: str = ""
    """The link that would hold the shared address. Empty: none is wanted."""
    vip: str = ""
    """The shared address that is wanted, without prefix. Whether it is held: see addresses."""
    is_astray: bool = False
    """Whether its cards are on other networks than the one that its address belongs to."""


@dataclass(slots=True)
class StoredImage:
    """A container image in the store of a machine."""

    name: str
    digest: str
    size: int
    created_at: float
    platform: str = ""
    """Of an installer: what it installs. Empty: it is none."""
    schematic: str = ""
    version: str = ""


@dataclass(slots=True)
class Running:
    """A sequence that is under way."""

    name: str
    """`boot`, `reboot`, `upgrade`."""
    actor: str
    phase: int = -1
    """Which of its phases is under way. -1: none yet."""
    phases: list[str] = field(default_factory=list)
    arguments: dict[str, object] = field(default_factory=dict)
    number: int = 0
    """Of all sequences of the machine, so that what was planned for another does not happen."""


@dataclass(slots=True)
class Trial:
    """A configuration that is tried and taken back."""

    before: bytes
    until: float
    number: int


@dataclass(slots=True)
class KubernetesState:
    """What the machine has to do with Kubernetes."""

    static_pods_ready_at: float | None = None
    """None: they are not there, or not ready."""
    registered: bool = False
    """Whether its Node exists."""
    node_ready: bool = False
    cordoned: bool = False


@dataclass(slots=True)
class MachineState:
    """A machine, from power on to power off; counters outlast that."""

    cluster: str
    """The Proxmox cluster that it is in."""
    vmid: int
    name: str = ""
    """Of the virtual machine."""
    node: str = ""
    """The Proxmox host that it runs on."""
    boot: int = 0
    """How often it booted, ever."""
    stage: Stage = Stage.OFF
    api: str = ""
    """How its API answers: `maintenance` or `secured`. Empty: not at all."""

    version: str = ""
    """Of what runs: `v1.13.9`."""
    platform: str = ""
    schematic: str = ""
    architecture: str = "amd64"
    secure_boot: bool = False
    slot: str = ""
    """`A` or `B`, which it booted from. Empty: from a medium, it runs in memory."""
    system_disk: str = ""
    """The slot of the disk on the side of Proxmox VE. Empty: Talos is not installed."""
    by_kexec: bool = False
    cmdline: list[str] = field(default_factory=list)
    boot_id: str = ""
    booted_at: float = 0.0
    off_at: float = 0.0
    """When it lost its power. 0: it never did."""
    took_leave: bool = False
    """Whether it told discovery, at a reset, that it is not there any more."""
    kernel_at: float = 0.0
    """When the kernel began: what clocks of the machine count from."""
    uuid: str = ""
    cores: int = 1
    memory: int = 0

    config: bytes = b""
    """The configuration that is active. Empty: none."""
    platform_config: dict[str, object] = field(default_factory=dict)
    """What the platform said of the machine, as `PlatformMetadatas` shows it."""
    trial: Trial | None = None
    applies_after_reboot: bool = False
    """Whether a configuration was applied that waits for a reboot."""
    network: NetworkState = field(default_factory=NetworkState)
    is_time_synced: bool = False

    services: dict[str, Service] = field(default_factory=dict)
    events: list[MachineEvent] = field(default_factory=list)
    events_made: int = 0
    kernel_log: list[LogLine] = field(default_factory=list)
    logs: dict[str, list[LogLine]] = field(default_factory=dict)
    sequence: Running | None = None
    sequences_run: int = 0
    last_status: str = ""
    """The status that was told last."""
    images: dict[str, dict[str, StoredImage]] = field(default_factory=dict)
    """By namespace, `system` or `k8s.io`, and name."""
    installing: bool = False
    """Whether an installation or upgrade is in progress."""
    pending_install: str = ""
    """The version that was installed and waits for a reboot. Empty: none."""
    bootstrap: dict[str, object] = field(default_factory=dict)
    """A bootstrap that was asked for: `recover`, `skip_hash`. Empty: none."""
    kubernetes: KubernetesState = field(default_factory=KubernetesState)
    timings: dict[str, float] = field(default_factory=dict)
    """Factors by step, `install`, or `*` for all: a slow disk, a slow network."""
    resources: dict[str, list[object]] = field(default_factory=dict)
    """What was shown of resources: version, moments and digest by type and id."""
    planned: set[str] = field(default_factory=set)
    """What is planned once and not a second time before it happened."""
    halted: str = ""
    """Why it stands still. Empty: it does not."""
    failures: int = 0
    """How many boots failed in a row."""

    @property
    def key(self) -> str:
        return f"{self.cluster}/{self.vmid}"

    @property
    def is_on(self) -> bool:
        return self.stage is not Stage.OFF


@dataclass(slots=True)
class FleetState:
    """All machines of a world and the etcd clusters among them."""

    machines: dict[str, MachineState] = field(default_factory=dict)
    etcd: dict[str, EtcdCluster] = field(default_factory=dict)
    """By id."""
