"""Disks of a Talos machine: the one to install on, and what is made on the others."""

from __future__ import annotations

from dataclasses import field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Literal

from stockman.model.formats import (
    ARGUMENT,
    BYTES,
    BYTES_OR_PERCENT,
    DEVICE,
    DIRECTORY,
    DISK_SIZE,
    DNS_LABEL,
    HOST_OR_ADDRESS,
    HTTP_URL,
    IPV4,
    LINK_NAME,
    LOG_URL,
    NON_EMPTY,
    PARAMETER,
    PORTS,
    QUANTITY,
    REPOSITORY_FILE,
    SUBNET,
    VARIABLE,
    VOLUME_NAME,
    Between,
    DurationText,
    Example,
    ExtensionName,
    KeepPositions,
    MacText,
    Mtu,
    Vlan,
)
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret

DiskMatch = Annotated[str, Example("disk.transport == 'nvme' && !system_disk")]


@record
class DiskSelector(Traced):
    """A disk by what it is; all that is given must hold. Texts may contain `*`."""

    size: Annotated[str, DISK_SIZE] | None = None
    """Size, compared by `>=`, `<=`, `>`, `<` or `==`; `GB` counts in thousands, `GiB` in 1024s.
    None: any."""
    model: Annotated[str, Example("Samsung SSD*")] | None = None
    """Model, as the kernel shows it. None: any."""
    serial: Annotated[str, Example("S4EW*")] | None = None
    """Serial number. None: any."""
    wwid: Annotated[str, Example("naa.5000c500a0000000")] | None = None
    """World wide name. None: any."""
    uuid: str | None = None
    """UUID of the device. None: any."""
    modalias: str | None = None
    """Kind of the device, as the kernel names it. None: any."""
    bus_path: Annotated[str, Example("/pci0000:00/*")] | None = None
    """Where it is plugged in. None: any."""
    type: Literal["ssd", "hdd", "nvme", "sd"] | None = None
    """What it is made of. None: any."""
    match: DiskMatch | None = None
    """Expression in CEL instead of the other keys; from contract 1.14 on. None: see the others."""


@record
class SystemVolume(Traced):
    """Room of EPHEMERAL, which holds images, logs and pods' scratch files."""

    min_size: Annotated[str, BYTES] | None = None
    """Least size. None: as Talos decides."""
    max_size: Annotated[str, BYTES_OR_PERCENT] | None = None
    """Largest size; a share needs contract 1.12. None: all that is left of the disk."""
    disk_match: DiskMatch | None = None
    """Disk by an expression in CEL. None: the disk that Talos is installed on."""


@record
class Volume(Traced):
    """A partition that Talos makes: a filesystem under `/var/mnt`, a raw one, or swap."""

    name: Annotated[str, VOLUME_NAME]
    """Name, and the directory under `/var/mnt`."""
    kind: Literal["user", "raw", "swap"] = "user"
    """user: a filesystem. raw: no filesystem. swap: memory on disk."""
    disk: Annotated[str, Example("data")] | None = None
    """Disk by path or serial number; a data disk of a VM has its name as serial number.
    None: see `disk_match`."""
    disk_match: DiskMatch | None = None
    """Disk by an expression in CEL. None: any disk but that of the system."""
    min_size: Annotated[str, BYTES] | None = None
    """Least size; one of the two sizes is needed. None: as Talos decides."""
    max_size: Annotated[str, BYTES_OR_PERCENT] | None = None
    """Largest size; a share needs contract 1.12. None: all that is left of the disk."""
    filesystem: Literal["xfs", "ext4"] = "xfs"
    """Filesystem of a `user` volume."""
    encryption: Literal["none", "tpm", "node-id"] = "none"
    """tpm: with a key in the TPM. node-id: with a key made from the machine's UUID, which protects
    a disk only once it is taken out."""


BondMode = Literal[
    "active-backup",
    "802.3ad",
    "balance-rr",
    "balance-xor",
    "broadcast",
    "balance-tlb",
    "balance-alb",
]
Milliseconds = Annotated[int, Between(0, 60_000, "milliseconds")]


@record
class Route(Traced):
    """A route besides the default one."""

    network: Annotated[IPv4Network, Example("127.99.0.0/16")]
    """Where it leads to."""
    gateway: IPv4Address | None = None
    """Next hop. None: the network is on the link itself."""
    metric: Annotated[int, Between(1, 4_294_967_295)] | None = None
    """The lower wins. None: as Talos decides."""


@record
class VlanLink(Traced):
    """A VLAN on a link: up, with or without addresses."""

    id: Vlan
    """Tag."""
    mtu: Mtu | None = None
    """None: that of the link below."""
    addresses: tuple[IPv4Interface, ...] = ()
    """Addresses. Empty: none, for Multus."""
    dhcp: bool = False
    """Whether DHCP gives it an address."""
    routes: tuple[Route, ...] = ()
    """Routes by this VLAN."""


@record
class Link(Traced):
    """A network link besides the one with the node's address: up, with or without addresses."""

    name: Annotated[str, LINK_NAME]
    """Name as Talos shows it; with `mac_addr` the name that it gets."""
    mac_addr: MacText | None = None
    """MAC address that the link is found by. None: it is found by its name."""
    mtu: Mtu | None = None
    """None: the default of the link."""
    addresses: tuple[IPv4Interface, ...] = ()
    """Addresses. Empty: none, for Multus."""
    dhcp: bool = False
    """Whether DHCP gives it an address."""
    routes: tuple[Route, ...] = ()
    """Routes by this link."""
    vlans: tuple[VlanLink, ...] = ()
    """VLANs on this link."""


@record
class Bond(Traced):
    """Several network cards as one link; it takes the node's address, VLANs and virtual address."""

    name: Annotated[str, LINK_NAME] = "bond0"
    """Name of the link."""
    mode: BondMode = "active-backup"
    """How the cards share the work."""
    members: tuple[MacText, ...] = ()
    """MAC addresses of further cards. Empty: the node's own card is the only one."""
    hash_policy: Literal["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"] | None = None
    """What decides which card a frame takes. None: layer2."""
    lacp_rate: Literal["slow", "fast"] | None = None
    """How often the switch is told; for 802.3ad. None: slow."""
    ad_select: Literal["stable", "bandwidth", "count"] | None = None
    """Which group of cards is used; for 802.3ad. None: stable."""
    min_links: Annotated[int, Between(1, 64)] | None = None
    """Cards that must be up; for 802.3ad. None: one."""
    miimon: Milliseconds = 100
    """How often the cards are looked at; 0: never."""
    up_delay: Milliseconds = 0
    """How long a card must be up before it is used; a multiple of `miimon`."""
    down_delay: Milliseconds = 0
    """How long a card must be down before it is left; a multiple of `miimon`."""


ProgramArguments = dict[Annotated[str, ARGUMENT], str]
HostNames = Annotated[tuple[Annotated[str, HOST_OR_ADDRESS], ...], NON_EMPTY]


@record
class KubeletMount(Traced):
    """A directory of the machine that the kubelet sees."""

    source: Annotated[str, DIRECTORY]
    """Directory of the machine."""
    destination: Annotated[str, DIRECTORY] | None = None
    """Where the kubelet sees it. None: in the same place."""
    options: tuple[str, ...] = ("bind", "rshared", "rw")
    """Options of the mount."""


@record
class KubeletSettings(Traced):
    """Settings of the kubelet."""

    extra_args: ProgramArguments = field(default_factory=dict)
    """Arguments by name, without dashes."""
    extra_config: dict[str, object] = field(default_factory=dict)
    """Keys of its configuration file, such as `maxPods`."""
    extra_mounts: tuple[KubeletMount, ...] = ()
    """Directories besides those that Talos gives it; up to contract 1.13, user volumes are
    mounted anyway."""
    cluster_dns: tuple[IPv4Address, ...] = ()
    """DNS servers of pods. Empty: `kubernetes.coredns_addr`."""
    node_ip_subnets: tuple[Annotated[str, SUBNET], ...] = ()
    """Networks that the node's address in Kubernetes is taken from. Empty: the node network."""


@record
class Watchdog(Traced):
    """A hardware timer that reboots a machine which hangs."""

    device: Annotated[str, DEVICE] = "/dev/watchdog0"
    """Device; QEMU offers `i6300esb`."""
    timeout: DurationText = "1m"
    """How long a machine may hang; from 10s to 1h."""


@record
class Nvidia(Traced):
    """What a machine needs for cards of NVIDIA besides the extensions."""

    enabled: bool | None = None
    """Whether the kernel modules are loaded. None: when the extensions of the driver are there."""
    default_runtime: bool = False
    """Whether every container may use the cards, not only those that name the runtime class."""


@record
class MachineSettings(Traced):
    """Settings of machines; lists of a node add to those of the cluster, and its names win."""

    sysctls: dict[Annotated[str, PARAMETER], str] = field(default_factory=dict)
    """Kernel parameters under `/proc/sys`."""
    sysfs: dict[Annotated[str, PARAMETER], str] = field(default_factory=dict)
    """Kernel parameters under `/sys`, with dots for slashes."""
    udev_rules: tuple[Annotated[str, Example('SUBSYSTEM=="drm", GROUP="44"')], ...] = ()
    """Rules of udev."""
    environment: dict[Annotated[str, VARIABLE], str] = field(default_factory=dict)
    """Environment variables of Talos' services, such as proxies."""
    host_entries: dict[Annotated[str, IPV4], HostNames] = field(default_factory=dict)
    """Names by address, for `/etc/hosts`."""
    kubelet: KubeletSettings = KubeletSettings()
    """The kubelet."""
    ephemeral: SystemVolume = SystemVolume()
    """The volume EPHEMERAL."""
    volumes: tuple[Volume, ...] = ()
    """Volumes besides those of the system."""
    watchdog: Watchdog | None = None
    """None: no watchdog."""
    kernel_logs: dict[Annotated[str, DNS_LABEL], Annotated[str, LOG_URL]] = field(
        default_factory=dict
    )
    """Where kernel messages are sent to, by name."""
    trusted_roots: dict[Annotated[str, DNS_LABEL], Annotated[str, REPOSITORY_FILE]] = field(
        default_factory=dict
    )
    """Files with CAs that Talos trusts besides the public ones, by name."""
    nvidia: Nvidia = Nvidia()
    """Cards of NVIDIA."""


Patch = Annotated[object, Example("machine: {sysctls: {vm.nr_hugepages: '1024'}}"), KeepPositions()]
KernelArgument = Annotated[str, Example("net.ifnames=0")]


@record
class TalosPatches(Traced):
    """Strategic-merge patches of the machine configuration; the more specific one wins."""

    all: tuple[Patch, ...] = ()
    """For every node."""
    controller: tuple[Patch, ...] = ()
    """For controllers."""
    worker: tuple[Patch, ...] = ()
    """For workers."""


@record
class RegistryMirror(Traced):
    """Where images of one registry come from instead, and how one gets in there."""

    endpoints: tuple[Annotated[str, HTTP_URL], ...] = ()
    """Mirrors, tried in order. Empty: the registry itself, with the credentials that follow."""
    skip_fallback: bool = False
    """Whether the registry itself is left out when no mirror answers."""
    override_path: bool = False
    """Whether the mirrors' addresses are whole, without `/v2` behind them."""
    username: str | None = None
    """None: anonymous."""
    password: Secret | None = None
    """None: anonymous."""
    ca_file: Annotated[str, REPOSITORY_FILE] | None = None
    """CA of the mirrors, a file in the repository. None: public CAs."""
    client_cert_file: Annotated[str, REPOSITORY_FILE] | None = None
    """Certificate that the machine shows to the mirrors. None: none."""
    client_key: Secret | None = None
    """Key of that certificate. None: none."""
    insecure_skip_verify: bool = False
    """Whether certificates of the mirrors are not checked."""


@record
class KubePrism(Traced):
    """The Kubernetes API on each machine's own loopback address, whatever controllers are up."""

    enabled: bool = True
    """Whether it is there; Cilium is pointed at it."""
    port: Annotated[int, Between(1, 65_535)] = 7445
    """Port."""


@record
class HostDns(Traced):
    """The caching DNS server on each machine."""

    enabled: bool = True
    """Whether it is there."""
    forward_kube_dns: bool = True
    """Whether CoreDNS asks it instead of the name servers of the network."""
    resolve_member_names: bool = False
    """Whether it knows the names of the nodes."""


@record
class FirewallRule(Traced):
    """Ports of the machines that others may reach."""

    ports: Annotated[tuple[Annotated[str, PORTS], ...], NON_EMPTY]
    """Ports and ranges of ports."""
    protocol: Literal["tcp", "udp"] = "tcp"
    """Protocol."""
    from_: tuple[IPv4Network, ...] = ()
    """Who may reach them. Empty: the node network."""
    nodes: Literal["all", "controllers", "workers"] = "all"
    """Machines that the rule holds for."""


@record
class Firewall(Traced):
    """What may reach the machines themselves. Traffic between pods is not filtered here."""

    enabled: bool = False
    """Whether everything is closed that is not opened by a rule. stockman opens what Talos,
    Kubernetes and Cilium need."""
    management: tuple[IPv4Network, ...] = ()
    """Networks that reach the Talos API of every node and the Kubernetes API, besides nodes and
    pods. Empty: everyone reaches those of controllers, nobody else those of workers."""
    rules: dict[Annotated[str, DNS_LABEL], FirewallRule] = field(default_factory=dict)
    """Further openings by name."""


@record
class Expect(Traced):
    """What a node must show. None or empty: not checked beyond what the VM block implies."""

    nic_count: Annotated[int, Between(1, 32)] | None = None
    """Number of network cards. None: as many as `vm.nics` has."""
    link_names: tuple[Annotated[str, LINK_NAME], ...] = ()
    """Links that must exist and be up, as Talos names them."""
    vlans: tuple[Vlan, ...] = ()
    """VLANs that the cards must be in, as Proxmox tags them."""
    devices: tuple[Annotated[str, Example("10de:2571")], ...] = ()
    """PCI devices that the machine must see, `vendor:device`."""
    allocatable: dict[str, Annotated[str, QUANTITY]] = field(default_factory=dict)
    """Least allocatable resources, such as `nvidia.com/gpu: 1`."""
    extensions: tuple[ExtensionName, ...] = ()
    """Extensions that must be running besides those of the schematic."""
