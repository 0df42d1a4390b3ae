"""What should be: the configuration with every default applied and every shorthand written out."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal
from uuid import UUID

from stockman.model.component import Component
from stockman.model.control_plane import ExtraArguments, InlineManifest, Oidc
from stockman.model.guest import Guest
from stockman.model.hardware import DataDisk, Hardware, Nic
from stockman.model.machine import (
    Bond,
    DiskSelector,
    Expect,
    Firewall,
    HostDns,
    KubePrism,
    Link,
    MachineSettings,
    RegistryMirror,
    Route,
    TalosPatches,
    VlanLink,
)
from stockman.model.names import (
    ClassName,
    Datastore,
    HostName,
    Mac,
    NodeName,
    Region,
    SchematicId,
    Vmid,
)
from stockman.model.origin import Traced
from stockman.model.policies import Backup, DriftSettings, Lock, Upgrade
from stockman.model.proxmox import Host, ProxmoxCluster
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version


class Role(Enum):
    """What a node does."""

    CONTROLLER = "controller"
    WORKER = "worker"


@record
class Network(Traced):
    """The network that the nodes are in."""

    node_cidr: IPv4Network
    dns_servers: tuple[IPv4Address, ...]
    ntp_servers: tuple[str, ...]
    default_gateway: IPv4Address
    vlan_tag: int | None
    """None: nodes do not tag their frames."""
    addressing: Literal["static", "dhcp"]


@record
class Kubernetes(Traced):
    """Kubernetes: version, networks, API."""

    version: Version
    pod_cidr: IPv4Network
    svc_cidr: IPv4Network
    coredns_addr: IPv4Address
    api_addr: IPv4Address
    api_endpoint: str
    """How machines reach the API, `https://10.42.0.10:6443`."""
    api_tls_sans: tuple[str, ...]
    schedule_on_controllers: bool
    oidc: Oidc | None
    """None: no identity provider."""
    extra_args: ExtraArguments
    extra_manifests: dict[str, str]
    inline_manifests: dict[str, InlineManifest]


@record
class Gateways(Traced):
    """Addresses of the gateways."""

    internal: IPv4Address
    dns: IPv4Address
    external: IPv4Address | None
    """None: nothing is published."""


@record
class Repository(Traced):
    """The Git repository that the cluster follows."""

    url: str
    branch: str
    private: bool
    """Whether it is reached with a deploy key."""
    webhook_provider: str
    known_hosts: str | None
    """None: the host keys that stockman knows."""
    ci: Literal["github", "gitlab", "none"]
    renovate: bool
    tasks: bool
    layout: Literal["classic", "toml"] | None
    """None: that of the dialect of the files."""


@record
class Edge(Traced):
    """Public DNS and ingress."""

    domain: str | None
    """None: there is no public domain."""
    dns_provider: Literal["cloudflare", "none"]
    dns_token: Secret | None
    """None: nothing edits DNS."""
    ingress_mode: Literal["cloudflare-tunnel", "direct", "none"]


@record
class Bgp(Traced):
    """BGP between Cilium and a router."""

    router_addr: IPv4Address
    router_asn: int
    node_asn: int


@record
class Cilium(Traced):
    """Network of the pods and load balancing."""

    loadbalancer_mode: Literal["dsr", "snat"]
    loadbalancer_pool: tuple[str, ...]
    bgp: Bgp | None
    """None: addresses are announced on layer 2."""


@record
class Talos(Traced):
    """Talos for the whole cluster."""

    version: Version
    contract: Version
    platform: Literal["nocloud", "metal"]
    factory_url: str
    patches: TalosPatches
    patch_order: Literal["specific", "talhelper"]
    registries: dict[str, RegistryMirror]
    discovery: bool
    kubespan: bool
    kube_prism: KubePrism
    host_dns: HostDns
    firewall: Firewall


@record
class Cluster(Traced):
    """One Kubernetes cluster."""

    name: str
    network: Network
    kubernetes: Kubernetes
    gateways: Gateways
    repository: Repository
    edge: Edge
    cilium: Cilium
    spegel: bool
    talos: Talos


@record
class Schematic(Traced):
    """What a node's image contains: an id of the Image Factory, or what to make one from."""

    id: SchematicId | None
    """None: made from what follows."""
    written: dict[str, object] | None
    """A schematic written out. None: made from extensions and kernel arguments."""
    extensions: tuple[str, ...]
    kernel_args: tuple[str, ...]


@record
class Vm(Hardware):
    """The Proxmox VM of a node, in full."""

    name: str
    vmid: Vmid
    host: HostName
    region: Region
    uuid: UUID
    disk_gb: int
    datastore: Datastore
    data_disks: tuple[DataDisk, ...]
    nics: tuple[Nic, ...]


@record
class Node(Traced):
    """One Talos machine together with the VM that it runs in."""

    name: NodeName
    role: Role
    node_class: ClassName | None
    """None: of no class."""
    address: IPv4Interface
    mac_addr: Mac
    disk: str
    """Install disk: a path, or a serial number. Empty: see `disk_selector`."""
    disk_selector: DiskSelector | None
    """Install disk by what it is. None: see `disk`."""
    schematic: Schematic
    mtu: int
    secureboot: bool
    encrypt_disk: bool
    kernel_modules: tuple[str, ...]
    patches: tuple[object, ...]
    """After those of the cluster and the role; those of its class first."""
    bond: Bond | None
    """None: the node's card has its address."""
    routes: tuple[Route, ...]
    vlans: tuple[VlanLink, ...]
    links: tuple[Link, ...]
    settings: MachineSettings
    """Those of the cluster, with what the node and its class add."""
    labels: dict[str, str]
    annotations: dict[str, str]
    taints: dict[str, str]
    expect: Expect
    vm: Vm | None
    """None: the machine is not made by stockman."""

    @property
    def is_controller(self) -> bool:
        return self.role is Role.CONTROLLER


@record
class Desired(Traced):
    """Everything that should be."""

    name: str
    """Whose all of it is: the name of the cluster. Without one, `cluster_name` where it is written,
    or else `guests`."""
    cluster: Cluster | None
    """None: no Talos nodes, only guests and hosts."""
    nodes: tuple[Node, ...]
    proxmox: tuple[ProxmoxCluster, ...]
    connect: dict[str, str]
    """Where to dial instead, `host:port` to `host:port`."""
    components: dict[str, Component]
    upgrade: Upgrade
    backup: Backup
    lock: Lock
    guests: tuple[Guest, ...]
    hosts: dict[str, Host] = field(default_factory=dict)
    drift: DriftSettings = DriftSettings()
