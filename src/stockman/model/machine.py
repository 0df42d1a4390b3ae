"""Settings of machines and of the Kubernetes control plane."""

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
    Text,
    Vlan,
)
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret

DiskMatch = Annotated[str, Example("disk.transport == 'nvme' && !system_disk")]


@record
class DiskSelector(Traced):
    """Selects a disk by its properties. All given keys must match; texts may contain `*`."""

    size: Annotated[str, DISK_SIZE] | None = None
    """Size, compared with `>=`, `<=`, `>`, `<` or `==`; `GB` is decimal, `GiB` is binary. None: any
    size."""
    model: Annotated[Text, Example("Samsung SSD*")] | None = None
    """Model as shown by the kernel. None: any model."""
    serial: Annotated[Text, Example("S4EW*")] | None = None
    """Serial number. None: any serial number."""
    wwid: Annotated[Text, Example("naa.5000c500a0000000")] | None = None
    """World Wide Identifier. None: any."""
    uuid: Text | None = None
    """UUID of the device. None: any."""
    modalias: Text | None = None
    """Modalias of the device. None: any."""
    bus_path: Annotated[Text, Example("/pci0000:00/*")] | None = None
    """Path of the bus that the disk is connected to. None: any."""
    type: Literal["ssd", "hdd", "nvme", "sd"] | None = None
    """Type of the disk. None: any type."""
    match: DiskMatch | None = None
    """CEL expression that replaces the other keys; requires contract 1.14. None: the other keys
    apply."""


@record
class SystemVolume(Traced):
    """The EPHEMERAL volume, which holds images, logs and temporary data of pods."""

    min_size: Annotated[str, BYTES] | None = None
    """Minimum size. None: the default of Talos."""
    max_size: Annotated[str, BYTES_OR_PERCENT] | None = None
    """Maximum size; a percentage requires contract 1.12. None: the rest of the disk."""
    disk_match: DiskMatch | None = None
    """CEL expression that selects the disk. None: the disk that Talos is installed on."""


@record
class Volume(Traced):
    """A partition that Talos creates: a filesystem under `/var/mnt`, a raw partition, or swap."""

    name: Annotated[str, VOLUME_NAME]
    """Name of the volume, and of its directory under `/var/mnt`."""
    kind: Literal["user", "raw", "swap"] = "user"
    """user: a partition with a filesystem. raw: without a filesystem. swap: swap space."""
    disk: Annotated[Text, Example("data")] | None = None
    """Disk by path or serial number. The serial number of a data disk is its name. None: selected
    by `disk_match`."""
    disk_match: DiskMatch | None = None
    """CEL expression that selects the disk. None: any disk except the system disk."""
    min_size: Annotated[str, BYTES] | None = None
    """Minimum size. At least one of the two sizes is required. None: the default of Talos."""
    max_size: Annotated[str, BYTES_OR_PERCENT] | None = None
    """Maximum size; a percentage requires contract 1.12. None: the rest of the disk."""
    filesystem: Literal["xfs", "ext4"] = "xfs"
    """Filesystem of a `user` volume."""
    encryption: Literal["none", "tpm", "node-id"] = "none"
    """tpm: with a key sealed in the TPM. node-id: with a key derived from the machine's UUID, which
    only protects a disk that is removed from the machine."""


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
    """A route in addition to the default route."""

    network: Annotated[IPv4Network, Example("127.99.0.0/16")]
    """Destination network."""
    gateway: IPv4Address | None = None
    """Next hop. None: the network is directly connected."""
    metric: Annotated[int, Between(1, 4_294_967_295)] | None = None
    """Priority; the lower metric is preferred. None: the default of Talos."""


@record
class VlanLink(Traced):
    """A VLAN on a link, with or without IP addresses."""

    id: Vlan
    """VLAN tag."""
    mtu: Mtu | None = None
    """MTU of the VLAN. None: the MTU of the parent link."""
    addresses: tuple[IPv4Interface, ...] = ()
    """IP addresses. Empty: no addresses, for example for Multus."""
    dhcp: bool = False
    """Whether the address is assigned by DHCP."""
    routes: tuple[Route, ...] = ()
    """Routes through this VLAN."""


@record
class Link(Traced):
    """A network link in addition to the one with the node's address."""

    name: Annotated[str, LINK_NAME]
    """Name as shown by Talos. With `mac_addr`, the name that the link is given."""
    mac_addr: MacText | None = None
    """MAC address that identifies the link. None: identified by its name."""
    mtu: Mtu | None = None
    """MTU of the link. None: the default of the link."""
    addresses: tuple[IPv4Interface, ...] = ()
    """IP addresses. Empty: no addresses, for example for Multus."""
    dhcp: bool = False
    """Whether the address is assigned by DHCP."""
    routes: tuple[Route, ...] = ()
    """Routes through this link."""
    vlans: tuple[VlanLink, ...] = ()
    """VLANs on this link."""


@record
class Bond(Traced):
    """A bond of several network cards. The node's address, VLANs and virtual IP are configured on
    the bond."""

    name: Annotated[str, LINK_NAME] = "bond0"
    """Name of the link."""
    mode: BondMode = "active-backup"
    """How traffic is distributed over the cards."""
    members: tuple[MacText, ...] = ()
    """MAC addresses of additional cards. Empty: only the node's own card."""
    hash_policy: Literal["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"] | None = None
    """How the card for a frame is chosen. None: layer2."""
    lacp_rate: Literal["slow", "fast"] | None = None
    """How often LACP packets are sent; for 802.3ad. None: slow."""
    ad_select: Literal["stable", "bandwidth", "count"] | None = None
    """How the active aggregator is chosen; for 802.3ad. None: stable."""
    min_links: Annotated[int, Between(1, 64)] | None = None
    """Minimum number of cards that must be up; for 802.3ad. None: one."""
    miimon: Milliseconds = 100
    """Interval of link monitoring; 0 disables it."""
    up_delay: Milliseconds = 0
    """How long a card must be up before it is used; a multiple of `miimon`."""
    down_delay: Milliseconds = 0
    """How long a card must be down before it is no longer used; a multiple of `miimon`."""


ProgramArguments = dict[Annotated[str, ARGUMENT], str]
HostNames = Annotated[tuple[Annotated[str, HOST_OR_ADDRESS], ...], NON_EMPTY]


@record
class KubeletMount(Traced):
    """A host directory that is mounted into the kubelet."""

    source: Annotated[str, DIRECTORY]
    """Directory on the machine."""
    destination: Annotated[str, DIRECTORY] | None = None
    """Directory in the kubelet. None: the same path."""
    options: tuple[str, ...] = ("bind", "rshared", "rw")
    """Mount options."""


@record
class KubeletSettings(Traced):
    """Settings of the kubelet."""

    extra_args: ProgramArguments = field(default_factory=dict)
    """Command line arguments by name, without dashes."""
    extra_config: dict[str, object] = field(default_factory=dict)
    """Keys of its configuration file, such as `maxPods`."""
    extra_mounts: tuple[KubeletMount, ...] = ()
    """Directories in addition to those that Talos mounts; up to contract 1.13. User volumes are
    mounted automatically."""
    cluster_dns: tuple[IPv4Address, ...] = ()
    """DNS servers of pods. Empty: `kubernetes.coredns_addr`."""
    node_ip_subnets: tuple[Annotated[str, SUBNET], ...] = ()
    """Networks from which the node IP is chosen. Empty: the node network."""


@record
class Watchdog(Traced):
    """A hardware watchdog timer that reboots a machine that hangs."""

    device: Annotated[str, DEVICE] = "/dev/watchdog0"
    """Watchdog device. QEMU provides `i6300esb`."""
    timeout: DurationText = "1m"
    """How long a machine may hang, from 10s to 1h."""


@record
class Nvidia(Traced):
    """Settings for NVIDIA GPUs, in addition to the extensions."""

    enabled: bool | None = None
    """Whether the kernel modules are loaded. None: if the driver extensions are installed."""
    default_runtime: bool = False
    """Whether all containers can use the GPUs, not only those with the NVIDIA runtime class."""


@record
class MachineSettings(Traced):
    """Settings of machines. Lists of a node are appended to those of the cluster; named entries of
    a node override those of the cluster."""

    sysctls: dict[Annotated[str, PARAMETER], str] = field(default_factory=dict)
    """Kernel parameters under `/proc/sys`."""
    sysfs: dict[Annotated[str, PARAMETER], str] = field(default_factory=dict)
    """Kernel parameters under `/sys`, with dots instead of slashes."""
    udev_rules: tuple[Annotated[Text, Example('SUBSYSTEM=="drm", GROUP="44"')], ...] = ()
    """udev rules."""
    environment: dict[Annotated[str, VARIABLE], str] = field(default_factory=dict)
    """Environment variables of Talos services, such as proxies."""
    host_entries: dict[Annotated[str, IPV4], HostNames] = field(default_factory=dict)
    """Host names by IP address, for `/etc/hosts`."""
    kubelet: KubeletSettings = KubeletSettings()
    """Settings of the kubelet."""
    ephemeral: SystemVolume = SystemVolume()
    """The EPHEMERAL volume."""
    volumes: tuple[Volume, ...] = ()
    """Volumes in addition to the system volumes."""
    watchdog: Watchdog | None = None
    """Watchdog timer. None: no watchdog."""
    kernel_logs: dict[Annotated[str, DNS_LABEL], Annotated[str, LOG_URL]] = field(
        default_factory=dict
    )
    """Destinations of kernel messages, by name."""
    trusted_roots: dict[Annotated[str, DNS_LABEL], Annotated[str, REPOSITORY_FILE]] = field(
        default_factory=dict
    )
    """Files with CAs that Talos trusts in addition to public CAs, by name."""
    nvidia: Nvidia = Nvidia()
    """NVIDIA GPUs."""


Patch = Annotated[object, Example("machine: {sysctls: {vm.nr_hugepages: '1024'}}"), KeepPositions()]
KernelArgument = Annotated[str, Example("net.ifnames=0")]


@record
class TalosPatches(Traced):
    """Strategic merge patches of the machine configuration. More specific patches win."""

    all: tuple[Patch, ...] = ()
    """Patches for every node."""
    controller: tuple[Patch, ...] = ()
    """Patches for controllers."""
    worker: tuple[Patch, ...] = ()
    """Patches for workers."""


@record
class RegistryMirror(Traced):
    """Mirrors and credentials of an image registry."""

    endpoints: tuple[Annotated[str, HTTP_URL], ...] = ()
    """URLs of mirrors, tried in order. Empty: the registry itself, with the credentials below."""
    skip_fallback: bool = False
    """Whether the registry itself is not used if no mirror answers."""
    override_path: bool = False
    """Whether the mirror URLs are used as they are, without `/v2` appended."""
    username: Text | None = None
    """User name. None: anonymous."""
    password: Secret | None = None
    """Password. None: anonymous."""
    ca_file: Annotated[str, REPOSITORY_FILE] | None = None
    """CA of the mirrors, a file in the repository. None: public CAs."""
    client_cert_file: Annotated[str, REPOSITORY_FILE] | None = None
    """Client certificate, a file in the repository. None: no certificate."""
    client_key: Secret | None = None
    """Private key of the client certificate. None: no key."""
    insecure_skip_verify: bool = False
    """Whether the certificates of the mirrors are not verified."""


@record
class KubePrism(Traced):
    """A load balancer for the Kubernetes API on the loopback address of each machine."""

    enabled: bool = True
    """Whether KubePrism is enabled. Cilium uses it."""
    port: Annotated[int, Between(1, 65_535)] = 7445
    """Port of KubePrism."""


@record
class HostDns(Traced):
    """The caching DNS server on each machine."""

    enabled: bool = True
    """Whether the DNS server is enabled."""
    forward_kube_dns: bool = True
    """Whether CoreDNS forwards queries to it instead of the name servers of the network."""
    resolve_member_names: bool = False
    """Whether it resolves the names of the nodes."""


@record
class FirewallRule(Traced):
    """Ports of the machines that are open to others."""

    ports: Annotated[tuple[Annotated[str, PORTS], ...], NON_EMPTY]
    """Ports and port ranges."""
    protocol: Literal["tcp", "udp"] = "tcp"
    """Protocol of the ports."""
    from_: tuple[IPv4Network, ...] = ()
    """Networks that may connect. Empty: the node network."""
    nodes: Literal["all", "controllers", "workers"] = "all"
    """Machines that the rule applies to."""


@record
class Firewall(Traced):
    """Ingress firewall of the machines. Traffic between pods is not filtered."""

    enabled: bool = False
    """Whether all ports are closed that no rule opens. stockman opens the ports that Talos,
    Kubernetes and Cilium need."""
    management: tuple[IPv4Network, ...] = ()
    """Networks that may access the Talos API of all nodes and the Kubernetes API, in addition to
    nodes and pods. Empty: everybody may access those of controllers, and nobody else those of
    workers."""
    rules: dict[Annotated[str, DNS_LABEL], FirewallRule] = field(default_factory=dict)
    """Additional rules by name."""


@record
class Expect(Traced):
    """Checks that a node must pass after boot before it may run workloads. Unset or empty checks
    are limited to what the VM block implies."""

    nic_count: Annotated[int, Between(1, 32)] | None = None
    """Number of network cards. None: the number of cards in `vm.nics`."""
    link_names: tuple[Annotated[str, LINK_NAME], ...] = ()
    """Links that must exist and be up, by Talos name."""
    vlans: tuple[Vlan, ...] = ()
    """VLANs of the cards, as tagged by Proxmox."""
    devices: tuple[Annotated[Text, Example("10de:2571")], ...] = ()
    """PCI devices that must be visible, `vendor:device`."""
    allocatable: dict[str, Annotated[str, QUANTITY]] = field(default_factory=dict)
    """Minimum allocatable resources, such as `nvidia.com/gpu: 1`."""
    extensions: tuple[ExtensionName, ...] = ()
    """Extensions that must be running, in addition to those of the schematic."""


@record
class ExtraArguments(Traced):
    """Arguments of control plane programs, by name without dashes."""

    api_server: ProgramArguments = field(default_factory=dict)
    """Arguments of kube-apiserver."""
    controller_manager: ProgramArguments = field(default_factory=dict)
    """Arguments of kube-controller-manager."""
    scheduler: ProgramArguments = field(default_factory=dict)
    """Arguments of kube-scheduler."""
    etcd: ProgramArguments = field(default_factory=dict)
    """Arguments of etcd."""


@record
class InlineManifest(Traced):
    """Objects that Talos applies when the cluster starts."""

    contents: Annotated[str, Example("{apiVersion: v1, kind: Namespace, metadata: {name: a}}")] = ""
    """Manifests as text. Empty: read from `file`."""
    file: Annotated[str, REPOSITORY_FILE] | None = None
    """File with the manifests. None: given in `contents`."""


@record
class Oidc(Traced):
    """Login to the Kubernetes API through an OpenID Connect identity provider."""

    issuer_url: Annotated[str, HTTP_URL]
    """URL of the issuer."""
    client_id: Text
    """Client id at the issuer."""
    username_claim: str = "preferred_username"
    """Claim that contains the user name."""
    username_prefix: str = "oidc:"
    """Prefix of user names. With an empty prefix a user could have the name of a system account."""
    groups_claim: str = "groups"
    """Claim that contains the groups."""
    groups_prefix: str = "oidc:"
    """Prefix of group names."""
