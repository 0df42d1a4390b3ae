"""The keys of the configuration language, as records."""

from __future__ import annotations

from dataclasses import field
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal
from uuid import UUID

from stockman.model.component import Component
from stockman.model.formats import (
    ADDRESS_POOL,
    CERTIFICATE_NAME,
    COMPONENT,
    DNS_LABEL,
    ENDPOINT,
    GIT_URL,
    HOST_OR_ADDRESS,
    HTTP_URL,
    LABEL_KEY,
    ORIGIN_URL,
    PACKAGE,
    PVE_ID,
    PVE_NODE,
    REQUIRED,
    TAINT,
    Asn,
    Between,
    BridgeText,
    ClassNameText,
    DatastoreText,
    Domain,
    Example,
    ExtensionName,
    HostNameText,
    MacText,
    Name,
    NodeNameText,
    SchematicText,
    Text,
    Vlan,
    VmidNumber,
)
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
    KernelArgument,
    KubePrism,
    Link,
    MachineSettings,
    Oidc,
    Patch,
    RegistryMirror,
    Route,
    TalosPatches,
    VlanLink,
)
from stockman.model.origin import Traced
from stockman.model.policies import Backup, DriftSettings, Lock, Upgrade
from stockman.model.proxmox import Host, ProxmoxCluster
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version

Dialect = Literal["classic", "toml"]
"""How files are written: `cluster.yaml` and `nodes.yaml`, or `cluster.toml`."""


@record
class ProxmoxSection(ProxmoxCluster):
    """Proxmox VE: a single cluster, or several under `clusters`."""

    clusters: tuple[ProxmoxCluster, ...] = ()
    """Several Proxmox clusters. The other keys of this section are then ignored."""
    connect: dict[str, Annotated[str, ENDPOINT]] = field(default_factory=dict)
    """Connection overrides, `host:port` to `host:port`, for tunnels and labs."""


@record
class TalosKeys(Traced):
    """Talos settings that only apply to the whole cluster."""

    version: Version | None = None
    """Talos version. None: the newest release that stockman, talhelper and topf support."""
    contract: Version | None = None
    """Style of machine configurations, `1.12`. `stockman init` sets it. It is not changed by
    upgrades, so that a new version does not rewrite the configuration of running nodes. None: the
    release line of the version."""
    platform: Literal["nocloud", "metal"] = "nocloud"
    """Platform of the image. A nocloud machine that is upgraded with a metal installer loses its
    network."""
    factory_url: Annotated[str, HTTP_URL] = "https://factory.talos.dev"
    """URL of the Image Factory."""
    schematic_id: SchematicText | None = None
    """Schematic of nodes without their own. None: created from extensions and kernel arguments."""
    controller_schematic_id: SchematicText | None = None
    """Schematic of controllers without their own."""
    worker_schematic_id: SchematicText | None = None
    """Schematic of workers without their own."""
    schematic: dict[str, object] | None = None
    """Schematic in the format of the Image Factory (`customization: {...}`), for nodes without a
    schematic id. None: created from extensions and kernel arguments."""
    extensions: tuple[ExtensionName, ...] = ()
    """System extensions of every node. The order is part of the schematic id."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Kernel arguments of every node."""
    patches: TalosPatches = TalosPatches()
    """Patches of the machine configuration."""
    patch_order: Literal["specific", "talhelper"] = "specific"
    """Order in which patches are applied; the last one wins. `specific`: all nodes, role, class,
    node. `talhelper`: role, node, all nodes, as talhelper does."""
    registries: dict[str, RegistryMirror] = field(default_factory=dict)
    """Mirrors and credentials, by registry host."""
    discovery: bool = True
    """Whether machines find each other through the discovery service."""
    kubespan: bool = False
    """Whether machines communicate through WireGuard (KubeSpan). Cilium has its own encryption."""
    kube_prism: KubePrism = KubePrism()
    """Load balancer for the Kubernetes API on each machine."""
    host_dns: HostDns = HostDns()
    """Caching DNS server on each machine."""
    firewall: Firewall = Firewall()
    """Ingress firewall of the machines."""


@record
class TalosSection(MachineSettings, TalosKeys):
    """Talos settings for the whole cluster."""


@record
class NodeTalosKeys(Traced):
    """Image and patches of one node or class."""

    schematic: dict[str, object] | None = None
    """Schematic in the format of the Image Factory, for this node or class only. None: the
    schematic of the cluster."""
    extensions: tuple[ExtensionName, ...] = ()
    """Additional extensions."""
    kernel_args: tuple[KernelArgument, ...] = ()
    """Additional kernel arguments."""
    patches: tuple[Patch, ...] = ()
    """Patches that are applied after those of the cluster and role. Patches of the class come
    before those of the node."""


@record
class NodeTalos(MachineSettings, NodeTalosKeys):
    """Talos settings of one node or class. Lists are appended to those of the cluster; named
    entries override those of the cluster."""


NodeMtu = Annotated[int, Between(1450, 9000, "bytes")]


@record
class VmSection(Hardware):
    """The Proxmox VM of a node."""

    vmid: VmidNumber | None = None
    """VMID, unique in the Proxmox cluster. Required for every node with a VM."""
    host: HostNameText | None = None
    """Proxmox host of the VM. Required for every node with a VM."""
    region: Annotated[str, PVE_ID] | None = None
    """Region of the Proxmox cluster. None: the only cluster."""
    uuid: UUID | None = None
    """SMBIOS UUID. None: derived from the names of cluster and node."""
    disk_gb: Annotated[int, Between(6, 131_072, "GiB")] = 32
    """Size of the system disk."""
    datastore: DatastoreText = "local-lvm"  # type: ignore[assignment]  # a literal of the NewType
    """Storage of the system disk."""
    data_disks: tuple[DataDisk, ...] = ()
    """Additional disks. They are kept when the VM is recreated."""
    bridge: BridgeText = "vmbr0"  # type: ignore[assignment]  # a literal of the NewType
    """Bridge of the network card, if `nics` is not set."""
    vlan_id: Vlan | None = None
    """VLAN tag of the network card, if `nics` is not set. None: untagged."""
    nics: tuple[Nic, ...] = ()
    """Network cards, in order; the first one has the node's MAC address. Empty: one card on
    `bridge`."""
    ha_group: Annotated[str, PVE_ID] | None = None
    """HA group of the VM, short for `ha: {group: ...}`. None: set in `ha`."""


@record
class NodeKeys(Traced):
    """Keys that nodes and classes have in common."""

    disk: Annotated[Text, Example("/dev/sda")] | None = None
    """Install disk, by path or serial number."""
    disk_selector: DiskSelector | None = None
    """Install disk, by its properties. None: given in `disk`."""
    schematic_id: SchematicText | None = None
    """Schematic id of the Image Factory. None: the schematic of the cluster."""
    mtu: NodeMtu = 1500
    """MTU of the node's link."""
    secureboot: bool = False
    """Whether the node boots SecureBoot images. It requires `bios: ovmf`."""
    encrypt_disk: bool = False
    """Whether STATE and EPHEMERAL are encrypted with a key in the TPM."""
    kernel_modules: tuple[Annotated[Text, Example("nbd")], ...] = ()
    """Kernel modules to load."""
    vm: VmSection | None = None
    """The VM of the node. None: stockman does not create the machine."""
    talos: NodeTalos = NodeTalos()
    """Extensions, kernel arguments, patches and settings."""
    bond: Bond | None = None
    """Bond of network cards. None: a single card with the node's MAC address."""
    routes: tuple[Route, ...] = ()
    """Routes in addition to the default route."""
    vlans: tuple[VlanLink, ...] = ()
    """VLANs on the node's link, in addition to the one with its address."""
    links: tuple[Link, ...] = ()
    """Links in addition to the node's own, for example VLAN cards for Multus."""
    labels: dict[Annotated[str, LABEL_KEY], str] = field(default_factory=dict)
    """Kubernetes labels."""
    annotations: dict[Annotated[str, LABEL_KEY], str] = field(default_factory=dict)
    """Kubernetes annotations."""
    taints: dict[Annotated[str, LABEL_KEY], Annotated[str, TAINT]] = field(default_factory=dict)
    """Kubernetes taints."""
    expect: Expect = Expect()
    """Checks that the node must pass after boot."""


@record
class ClassSection(NodeKeys):
    """Settings that nodes have in common. The classes `controller` and `worker` apply to nodes of
    that role that name no class."""

    extends: ClassNameText | None = None
    """Class that this class extends. None: no class."""


@record
class NodeSection(NodeKeys):
    """A Talos machine."""

    name: Annotated[NodeNameText | None, REQUIRED] = None
    """Host name of the node, and name of its VM."""
    address: Annotated[IPv4Address | None, REQUIRED, Example("127.66.0.11")] = None
    """IP address in the node network."""
    controller: Annotated[bool | None, REQUIRED] = None
    """Whether the node runs the control plane."""
    mac_addr: MacText | None = None
    """MAC address of the card with the node's address. Required for machines without `vm`. None:
    that of the first card, or derived from the names of cluster and node."""
    class_: Annotated[ClassNameText | None, Example("worker-gpu")] = None
    """Class of the node. None: `controller` or `worker`, if such a class exists."""


@record
class ClusterSection(Traced):
    """The cluster itself."""

    name: Name = "kubernetes"
    """Name of the cluster in kubeconfig, talosconfig and file names."""


@record
class NetworkSection(Traced):
    """The network of the nodes."""

    node_cidr: Annotated[IPv4Network | None, Example("127.66.0.0/24")] = None
    """Node network, without host bits."""
    dns_servers: tuple[IPv4Address, ...] = (IPv4Address("1.1.1.1"), IPv4Address("1.0.0.1"))
    """DNS servers of the nodes."""
    ntp_servers: tuple[Annotated[str, HOST_OR_ADDRESS], ...] = (
        "162.159.200.1",
        "162.159.200.123",
    )
    """Time servers of the nodes. IP addresses work before DNS does."""
    default_gateway: IPv4Address | None = None
    """Default gateway of the nodes. None: the first address of the node network."""
    vlan_tag: Vlan | None = None
    """VLAN that the nodes tag themselves, on a trunk port. None: untagged. To tag on the Proxmox
    bridge, use `vlan_id` of the VM."""
    addressing: Literal["static", "dhcp"] = "static"
    """static: addresses are part of the machine configuration. dhcp: DHCP reservations by MAC
    address assign the same addresses."""


@record
class ApiSection(Traced):
    """The Kubernetes API."""

    addr: Annotated[IPv4Address | None, Example("127.66.0.10")] = None
    """Virtual IP address of the API, held by one controller at a time. With a single controller it
    can be the address of that controller."""
    endpoint: Annotated[str, ORIGIN_URL, Example("https://api.example.com:6443")] | None = None
    """URL of the API if it differs from the address: a DNS name or a load balancer. None: `addr`
    with port 6443."""
    tls_sans: tuple[Annotated[str, CERTIFICATE_NAME], ...] = ()
    """Additional names and IP addresses in the certificate of the API."""


@record
class KubernetesSection(Traced):
    """Kubernetes version, networks and API."""

    version: Version | None = None
    """Kubernetes version. None: the default of the Talos version."""
    pod_cidr: IPv4Network = IPv4Network("10.42.0.0/16")
    """Pod network."""
    svc_cidr: IPv4Network = IPv4Network("10.43.0.0/16")
    """Service network."""
    coredns_addr: IPv4Address | None = None
    """Address of the cluster DNS service. None: the tenth address of the service network."""
    api: ApiSection = ApiSection()
    """The Kubernetes API."""
    schedule_on_controllers: bool | None = None
    """Whether controllers run workloads. None: only if there are no workers."""
    oidc: Oidc | None = None
    """Login through an identity provider. None: no identity provider."""
    extra_args: ExtraArguments = ExtraArguments()
    """Arguments of control plane programs."""
    extra_manifests: dict[Annotated[str, DNS_LABEL], Annotated[str, HTTP_URL]] = field(
        default_factory=dict
    )
    """URLs of manifests that Talos applies when the cluster starts, by name."""
    inline_manifests: dict[Annotated[str, DNS_LABEL], InlineManifest] = field(default_factory=dict)
    """Manifests that Talos applies when the cluster starts, by name."""


@record
class GatewaysSection(Traced):
    """IP addresses of the gateways."""

    internal: IPv4Address | None = None
    """Address of the gateway for the local network."""
    dns: IPv4Address | None = None
    """Address of the DNS server that resolves names of the cluster's domain in the local
    network."""
    external: IPv4Address | None = None
    """Address of the gateway for the internet. None: nothing is published."""


@record
class RepositorySection(Traced):
    """The Git repository that the cluster follows."""

    url: Annotated[str, GIT_URL] | None = None
    """URL of the repository."""
    branch: Annotated[Text, Example("main")] = "main"
    """Branch that Flux follows."""
    webhook_provider: Literal["github", "gitlab", "generic-hmac", "none"] = "github"
    """Provider of webhooks for new commits. none: Flux only polls."""
    known_hosts: str | None = None
    """SSH host keys of the Git server. None: those of github.com, gitlab.com and codeberg.org."""
    ci: Literal["github", "gitlab", "none"] | None = None
    """CI system for which a pipeline is rendered. None: that of the Git host, if it is github or
    gitlab."""
    package: Annotated[str, PACKAGE] | None = None
    """What the CI pipeline installs: the address of a wheel of stockman with its hash, or an image
    with its digest. None: the variable STOCKMAN_PACKAGE of the repository has the wheel."""
    renovate: bool = True
    """Whether the configuration of Renovate is rendered."""
    tasks: bool = False
    """Whether a Taskfile.yaml (with cluster.toml: a justfile) with common tasks is rendered."""
    layout: Dialect | None = None
    """Layout of rendered files: classic is for talhelper, helmfile.d and go-task; toml is for topf,
    helmfile and just. None: that of the dialect of the files."""


@record
class DomainSection(Traced):
    """DNS domain of the cluster."""

    name: Domain | None = None
    """Domain of published services."""


@record
class DnsSection(Traced):
    """Public DNS."""

    provider: Literal["cloudflare", "none"] = "cloudflare"
    """DNS provider of the domain. none: nothing is published."""
    token: Secret | None = None
    """API token that may edit the zone."""


@record
class IngressSection(Traced):
    """How traffic from the internet reaches the external gateway."""

    mode: Literal["cloudflare-tunnel", "direct", "none"] | None = None
    """Ingress mode. None: a tunnel with Cloudflare DNS, otherwise none."""


@record
class BgpSection(Traced):
    """BGP between Cilium and a router. All three keys must be set, or none."""

    router_addr: IPv4Address | None = None
    """IP address of the router."""
    router_asn: Asn | None = None
    """AS number of the router."""
    node_asn: Asn | None = None
    """AS number of the nodes."""


@record
class CiliumSection(Traced):
    """Pod network and load balancing."""

    loadbalancer_mode: Literal["dsr", "snat"] = "dsr"
    """How replies are sent: directly from the node (dsr) or through the node that received the
    request (snat)."""
    loadbalancer_pool: tuple[Annotated[str, ADDRESS_POOL], ...] = ()
    """Additional addresses for LoadBalancer services, besides the gateways."""
    bgp: BgpSection = BgpSection()
    """BGP settings, to announce addresses by BGP instead of layer 2."""


@record
class SpegelSection(Traced):
    """Image sharing between nodes."""

    enabled: bool | None = None
    """Whether nodes share images. None: if there is more than one node."""


@record
class Configuration(Traced):
    """All sections of a configuration: the cluster and its machines."""

    cluster: ClusterSection = ClusterSection()
    """The cluster itself."""
    network: NetworkSection = NetworkSection()
    """The network of the nodes."""
    kubernetes: KubernetesSection = KubernetesSection()
    """Kubernetes version, networks and API."""
    gateways: GatewaysSection = GatewaysSection()
    """IP addresses of the gateways."""
    repository: RepositorySection = RepositorySection()
    """The Git repository that the cluster follows."""
    domain: DomainSection = DomainSection()
    """DNS domain of the cluster."""
    dns: DnsSection = DnsSection()
    """Public DNS."""
    ingress: IngressSection = IngressSection()
    """How traffic from the internet reaches the external gateway."""
    cilium: CiliumSection = CiliumSection()
    """Pod network and load balancing."""
    spegel: SpegelSection = SpegelSection()
    """Image sharing between nodes."""
    talos: TalosSection = TalosSection()
    """Talos settings for the whole cluster."""
    proxmox: ProxmoxSection | None = None
    """Proxmox VE. None: stockman does not create machines."""
    components: dict[Annotated[str, COMPONENT], Component] = field(default_factory=dict)
    """Components by name."""
    upgrade: Upgrade = Upgrade()
    """How Talos and Kubernetes are upgraded."""
    backup: Backup = Backup()
    """Backups of etcd."""
    lock: Lock = Lock()
    """The lock between operators."""
    drift: DriftSettings = DriftSettings()
    """Differences that `stockman drift` ignores."""
    nodes: tuple[NodeSection, ...] = ()
    """Talos machines. Empty: no cluster, only guests and hosts."""
    classes: dict[Annotated[str, DNS_LABEL], ClassSection] = field(default_factory=dict)
    """Node classes by name."""
    guests: tuple[Guest, ...] = ()
    """VMs and containers other than Talos nodes."""
    hosts: dict[Annotated[str, PVE_NODE], Host] = field(default_factory=dict)
    """Desired state of Proxmox hosts, by host name."""


MACHINE_SECTIONS = ("nodes", "classes", "guests", "hosts")
"""Sections of `nodes.yaml`."""

CLUSTER_SECTIONS = tuple(
    name for name in Configuration.__annotations__ if name not in MACHINE_SECTIONS
)
"""Sections of `cluster.yaml`, in the order of the language."""

RESERVED_SECTIONS = ("tenants", "platform", "exports")
"""Names reserved for later versions."""


def proxmox_clusters(proxmox: ProxmoxSection) -> tuple[ProxmoxCluster, ...]:
    """Return the Proxmox clusters: those listed, or the section itself."""
    return proxmox.clusters or (proxmox,)
