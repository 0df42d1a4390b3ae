"""The desired state: the configuration with all defaults applied and all short forms expanded."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Literal
from uuid import UUID

from stockman.model.component import Component
from stockman.model.guest import Guest
from stockman.model.hardware import DataDisk, Hardware, Nic
from stockman.model.machine import (
    Bond,
    DiskSelector,
    Expect,
    ExtraArguments,
    Firewall,
    HostDns,
    InlineManifest,
    KubePrism,
    Link,
    MachineSettings,
    Oidc,
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
    """Role of a node."""

    CONTROLLER = "controller"
    WORKER = "worker"


@record
class Network(Traced):
    """The network of the nodes."""

    node_cidr: IPv4Network
    dns_servers: tuple[IPv4Address, ...]
    ntp_servers: tuple[str, ...]
    default_gateway: IPv4Address
    vlan_tag: int | None
    """None: nodes do not tag their frames."""
    addressing: Literal["static", "dhcp"]


@record
class Kubernetes(Traced):
    """Kubernetes version, networks and API."""

    version: Version
    pod_cidr: IPv4Network
    svc_cidr: IPv4Network
    coredns_addr: IPv4Address
    api_addr: IPv4Address
    api_endpoint: str
    """URL by which machines reach the API, `https://10.42.0.10:6443`."""
    api_tls_sans: tuple[str, ...]
    schedule_on_controllers: bool
    oidc: Oidc | None
    """None: no identity provider."""
    extra_args: ExtraArguments
    extra_manifests: dict[str, str]
    inline_manifests: dict[str, InlineManifest]


@record
class Gateways(Traced):
    """IP addresses of the gateways."""

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
    """Whether Flux uses a deploy key."""
    webhook_provider: str
    known_hosts: str | None
    """None: the host keys that are built into stockman."""
    ci: Literal["github", "gitlab", "none"]
    package: str | None
    """A wheel with its hash, or an image with its digest. None: a variable of the repository."""
    renovate: bool
    tasks: bool
    layout: Literal["classic", "toml"] | None
    """None: the layout of the dialect."""


@record
class Edge(Traced):
    """Public DNS and ingress."""

    domain: str | None
    """None: there is no public domain."""
    dns_provider: Literal["cloudflare", "none"]
    dns_token: Secret | None
    """None: DNS is not edited."""
    ingress_mode: Literal["cloudflare-tunnel", "direct", "none"]


@record
class Bgp(Traced):
    """BGP between Cilium and a router."""

    router_addr: IPv4Address
    router_asn: int
    node_asn: int


@record
class Cilium(Traced):
    """Pod network and load balancing."""

    loadbalancer_mode: Literal["dsr", "snat"]
    loadbalancer_pool: tuple[str, ...]
    bgp: Bgp | None
    """None: addresses are announced on layer 2."""


@record
class Talos(Traced):
    """Talos settings for the whole cluster."""

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
    """The image of a node: a schematic id, or the content of a schematic."""

    id: SchematicId | None
    """None: created from the other fields."""
    written: dict[str, object] | None
    """A complete schematic. None: created from extensions and kernel arguments."""
    extensions: tuple[str, ...]
    kernel_args: tuple[str, ...]


@record
class Vm(Hardware):
    """The Proxmox VM of a node, with all defaults applied."""

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
    """A Talos machine and its VM."""

    name: NodeName
    role: Role
    node_class: ClassName | None
    """None: no class."""
    address: IPv4Interface
    mac_addr: Mac
    disk: str
    """Install disk: a path or a serial number. Empty: selected by `disk_selector`."""
    disk_selector: DiskSelector | None
    """Install disk by its properties. None: given in `disk`."""
    schematic: Schematic
    mtu: int
    secureboot: bool
    encrypt_disk: bool
    kernel_modules: tuple[str, ...]
    patches: tuple[object, ...]
    """Applied after those of the cluster and the role; class patches before node patches."""
    bond: Bond | None
    """None: a single card has the node's address."""
    routes: tuple[Route, ...]
    vlans: tuple[VlanLink, ...]
    links: tuple[Link, ...]
    settings: MachineSettings
    """Settings of the cluster, merged with those of the class and the node."""
    labels: dict[str, str]
    annotations: dict[str, str]
    taints: dict[str, str]
    expect: Expect
    vm: Vm | None
    """None: stockman does not create the machine."""

    @property
    def is_controller(self) -> bool:
        return self.role is Role.CONTROLLER


@record
class Desired(Traced):
    """The desired state of everything that stockman manages."""

    name: str
    """Name of the cluster. Without a cluster it is `cluster_name` if set, otherwise `guests`."""
    cluster: Cluster | None
    """None: no Talos nodes, only guests and hosts."""
    nodes: tuple[Node, ...]
    proxmox: tuple[ProxmoxCluster, ...]
    connect: dict[str, str]
    """Connection overrides, `host:port` to `host:port`."""
    components: dict[str, Component]
    upgrade: Upgrade
    backup: Backup
    lock: Lock
    guests: tuple[Guest, ...]
    hosts: dict[str, Host] = field(default_factory=dict)
    drift: DriftSettings = DriftSettings()
    fingerprint: str = ""
    """Fingerprint in the marks of guests. Empty: unknown, so that no guest may be deleted."""
    earlier_fingerprint: str = ""
    """Fingerprint before there was a cluster. Empty: there always was one, or there is none."""
