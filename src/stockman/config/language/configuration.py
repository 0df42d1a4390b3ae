"""The complete configuration, in one structure for both dialects."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.config.language.cluster import (
    CiliumSection,
    ClusterSection,
    DnsSection,
    DomainSection,
    GatewaysSection,
    IngressSection,
    KubernetesSection,
    NetworkSection,
    RepositorySection,
    SpegelSection,
)
from stockman.config.language.node import ClassSection, NodeSection
from stockman.config.language.proxmox import ProxmoxSection
from stockman.config.language.talos import TalosSection
from stockman.model.component import Component
from stockman.model.formats import COMPONENT, DNS_LABEL, PVE_NODE
from stockman.model.guest import Guest
from stockman.model.origin import Traced
from stockman.model.policies import Backup, DriftSettings, Lock, Upgrade
from stockman.model.proxmox import Host
from stockman.model.record import record


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


CLUSTER_SECTIONS = (
    "cluster",
    "network",
    "kubernetes",
    "gateways",
    "repository",
    "domain",
    "dns",
    "ingress",
    "cilium",
    "spegel",
    "talos",
    "proxmox",
    "components",
    "upgrade",
    "backup",
    "lock",
    "drift",
)
"""Sections of `cluster.yaml`."""

MACHINE_SECTIONS = ("nodes", "classes", "guests", "hosts")
"""Sections of `nodes.yaml`."""

RESERVED_SECTIONS = ("tenants", "platform", "exports")
"""Names reserved for later versions."""
