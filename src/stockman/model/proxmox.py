"""Clusters of Proxmox VE hosts: how to reach them, what they have."""

from __future__ import annotations

from dataclasses import field
from ipaddress import IPv4Address, IPv4Interface
from typing import Annotated, Literal

from stockman.model.formats import (
    DNS_LABEL,
    FINGERPRINT,
    HOST_OR_ADDRESS,
    NON_EMPTY,
    ORIGIN_URL,
    PCI_ADDRESS,
    PVE_ID,
    TOKEN_ID,
    USB_ID,
    USER_ID,
    Between,
    BridgeText,
    DatastoreText,
    Example,
    HostNameText,
    Mtu,
    NodeNameText,
    RegionText,
)
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version

OWN_TOKEN = "stockman@pve!stockman"
"""The token that stockman creates for itself unless the configuration names another one."""


@record
class Tls(Traced):
    """How the certificate of Proxmox is checked; never switched off."""

    ca_file: str | None = None
    """CA certificate, a file in the repository. None: public CAs, or the fingerprint."""
    fingerprint: Annotated[str, FINGERPRINT] | None = None
    """SHA-256 fingerprint of the certificate. None: by CA."""


@record
class HostLimits(Traced):
    """What one host has and how much of it may be used."""

    address: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Where the host answers. None: through the cluster's endpoints."""
    cores: Annotated[int, Between(1, 1024)] | None = None
    """CPU threads. None: asked from the host."""
    memory: Annotated[int, Between(256, 33_554_432, "MiB")] | None = None
    """Memory in MiB. None: asked from the host."""
    reserve_memory: Annotated[int, Between(0, 33_554_432, "MiB")] = 2048
    """Memory kept for the host itself."""
    max_vms: Annotated[int, Between(0, 1000)] | None = None
    """VMs that stockman may place there. None: no limit."""


@record
class VmTemplate(Traced):
    """A VM that others are made from, kept at the version and schematic of a node.

    When these change, a new one is made first; the old one goes unless disks depend on it.
    """

    name: Annotated[str, DNS_LABEL]
    """How its name begins; version and schematic follow."""
    like: NodeNameText
    """Node whose image and hardware it has, without the devices that are passed through."""
    hosts: tuple[HostNameText, ...] = ()
    """Hosts that have one each. Empty: the host of that node."""
    datastore: DatastoreText | None = None
    """Storage of its disk. None: that of the node."""
    first_vmid: Annotated[int, Between(100, 999_000_000)] = 9000
    """Numbers from here on are taken, the lowest that are free."""


@record
class ProxmoxCluster(Traced):
    """One Proxmox cluster (or a single host); its region is the Kubernetes region of its nodes."""

    region: RegionText = "pve"  # type: ignore[assignment]  # a literal of the NewType
    """Name of the cluster, unique; becomes `topology.kubernetes.io/region`."""
    endpoint: Annotated[str, ORIGIN_URL] | None = None
    """API address without a path; components append their own."""
    endpoints: tuple[Annotated[str, ORIGIN_URL], ...] = ()
    """Further API addresses, tried when the first does not answer."""
    version: Version | None = None
    """Proxmox VE version. None: asked from the API."""
    tls: Tls = Tls()
    """How the certificate is checked."""
    token_id: Annotated[str, TOKEN_ID] | None = None
    """API token of stockman."""
    token_secret: Secret | None = None
    """Its secret, a UUID; or token and secret in one, `user@realm!name=UUID`, as rotation keeps
    them."""
    image_storage: DatastoreText | None = None
    """Storage for downloaded images. None: the storage of the VM's system disk."""
    snippet_storage: DatastoreText | None = None
    """Storage for snippets. None: configurations are given over the Talos API."""
    storages: tuple[DatastoreText, ...] = ()
    """Storages that VMs may use. Empty: any."""
    bridges: tuple[BridgeText, ...] = ()
    """Bridges that VMs may use. Empty: any."""
    hosts: dict[str, HostLimits] = field(default_factory=dict)
    """Hosts by name with their limits. Empty: any host the API knows."""
    templates: tuple[VmTemplate, ...] = ()
    """Templates that others make VMs from, such as Karpenter."""


StorageContent = Literal["images", "rootdir", "vztmpl", "iso", "backup", "snippets", "import"]


@record
class ZfsPool(Traced):
    """A ZFS pool on the host."""

    name: Annotated[str, PVE_ID]
    """Name of the pool."""
    layout: Literal["single", "mirror", "raidz1", "raidz2", "raidz3"] = "single"
    """How disks are combined."""
    disks: Annotated[tuple[str, ...], NON_EMPTY]
    """Disks by stable name, `/dev/disk/by-id/...`."""
    ashift: Annotated[int, Between(9, 16)] = 12
    """Sector size as a power of two; it cannot be changed later."""
    compression: Literal["lz4", "zstd", "on", "off"] = "lz4"
    """Compression of the pool's root."""


@record
class Storage(Traced):
    """A storage entry of Proxmox."""

    name: Annotated[str, PVE_ID]
    """Storage id."""
    type: Literal[
        "dir", "zfspool", "lvm", "lvmthin", "nfs", "cifs", "rbd", "cephfs", "pbs", "btrfs"
    ]
    """Kind of storage."""
    content: tuple[StorageContent, ...] = ("images",)
    """What it may hold."""
    path: str | None = None
    """Directory of a `dir` or `btrfs` storage. None: other types."""
    pool: str | None = None
    """ZFS or Ceph pool. None: other types."""
    volume_group: str | None = None
    """Volume group of LVM. None: other types."""
    server: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Server of nfs, cifs and pbs. None: other types."""
    export: str | None = None
    """NFS export. None: other types."""
    share: str | None = None
    """CIFS share. None: other types."""
    datastore: str | None = None
    """Datastore of a Proxmox Backup Server. None: other types."""
    username: str | None = None
    """User of cifs and pbs. None: none."""
    password: Secret | None = None
    """Password or token secret of cifs and pbs. None: none."""
    fingerprint: Annotated[str, FINGERPRINT] | None = None
    """Certificate of a Proxmox Backup Server. None: signed by a known CA."""
    shared: bool = False
    """Whether all hosts see the same content."""


@record
class HostBridge(Traced):
    """A Linux bridge of the host."""

    name: BridgeText
    """Name, `vmbr0`."""
    ports: tuple[str, ...] = ()
    """Physical ports or bonds in it."""
    vlan_aware: bool = True
    """Whether cards may carry VLAN tags."""
    address: IPv4Interface | None = None
    """Address of the host on it. None: none."""
    gateway: IPv4Address | None = None
    """Default route of the host over it. None: none."""
    mtu: Mtu | None = None
    """None: 1500."""


@record
class PciMapping(Traced):
    """A PCI device offered under a name, so that tokens may use it."""

    name: Annotated[str, PVE_ID]
    """Mapping name, the same on all hosts that have such a device."""
    address: Annotated[str, PCI_ADDRESS]
    """Address on this host."""
    id: Annotated[str, Example("10de:2571")] | None = None
    """`vendor:device`, checked before use. None: not checked."""
    description: str = ""
    """What it is."""


@record
class UsbMapping(Traced):
    """A USB device offered under a name."""

    name: Annotated[str, PVE_ID]
    """Mapping name."""
    id: Annotated[str, USB_ID]
    """`vendor:product` or `bus-port`."""
    description: str = ""
    """What it is."""


@record
class Passthrough(Traced):
    """Devices that guests may own."""

    iommu: bool = True
    """Whether the kernel has to have its IOMMU on."""
    modules: tuple[str, ...] = ()
    """Kernel modules to load at boot."""
    blacklist: tuple[str, ...] = ()
    """Kernel modules that must leave the devices alone."""
    pci: tuple[PciMapping, ...] = ()
    """PCI devices."""
    usb: tuple[UsbMapping, ...] = ()
    """USB devices."""


@record
class HostUser(Traced):
    """A Proxmox user with a role on a path."""

    name: Annotated[str, USER_ID]
    """User, `name@realm`."""
    role: Annotated[str, Example("PVEAuditor")]
    """Role it has."""
    path: str = "/"
    """Object tree the role is for."""


@record
class Ssh(Traced):
    """How to reach the host's shell, for what the API cannot do."""

    address: Annotated[str, HOST_OR_ADDRESS] | None = None
    """None: the host's own address."""
    port: Annotated[int, Between(1, 65_535)] = 22
    """Port."""
    user: str = "root"
    """User."""
    key: Secret | None = None
    """Private key. None: the agent's."""


@record
class Host(Traced):
    """What one Proxmox host should have. Empty lists: not looked after."""

    address: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Where it answers. None: under its name."""
    pools: tuple[ZfsPool, ...] = ()
    """ZFS pools."""
    storages: tuple[Storage, ...] = ()
    """Storage entries."""
    bridges: tuple[HostBridge, ...] = ()
    """Bridges."""
    passthrough: Passthrough | None = None
    """None: no devices are passed through."""
    users: tuple[HostUser, ...] = ()
    """Users and their roles."""
    ssh: Ssh | None = None
    """None: no shell access."""
