"""Proxmox VE clusters, their hosts, and the desired state of hosts."""

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
    Text,
)
from stockman.model.names import Datastore
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version

OWN_TOKEN = "stockman@pve!stockman"
"""The token that stockman creates for itself unless the configuration names another one."""


@record
class Tls(Traced):
    """How the certificate of Proxmox is verified. Verification cannot be disabled."""

    ca_file: Text | None = None
    """CA certificate, a file in the repository. None: public CAs, or the fingerprint."""
    fingerprint: Annotated[str, FINGERPRINT] | None = None
    """SHA-256 fingerprint of the certificate. None: verified by a CA."""
    fingerprints: tuple[Annotated[str, FINGERPRINT], ...] = ()
    """Fingerprints of further endpoints: each host has its own certificate. Empty: `fingerprint` is
    that of every endpoint."""


@record
class HostLimits(Traced):
    """Resources of a host, and how much of them may be used."""

    address: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Address of the host. None: reached through the endpoints of the cluster."""
    cores: Annotated[int, Between(1, 1024)] | None = None
    """Number of CPU threads. None: read from the host."""
    memory: Annotated[int, Between(256, 33_554_432, "MiB")] | None = None
    """Memory in MiB. None: read from the host."""
    reserve_memory: Annotated[int, Between(0, 33_554_432, "MiB")] = 2048
    """Memory reserved for the host itself."""
    max_vms: Annotated[int, Between(0, 1000)] | None = None
    """Maximum number of VMs that stockman places on the host. None: no limit."""


@record
class VmTemplate(Traced):
    """A VM template, kept at the version and schematic of a node.

    When these change, a new template is created first; the old one is deleted unless disks depend
    on it.
    """

    name: Annotated[str, DNS_LABEL]
    """Prefix of the template name; version and schematic are appended."""
    like: NodeNameText
    """Node whose image and hardware the template has, without passed-through devices."""
    hosts: tuple[HostNameText, ...] = ()
    """Hosts with a copy of the template. Empty: the host of that node."""
    datastore: DatastoreText | None = None
    """Storage of its disk. None: the storage of the node."""
    first_vmid: Annotated[int, Between(100, 999_000_000)] = 9000
    """First VMID to use; the lowest free VMIDs from here on are taken."""


@record
class ProxmoxCluster(Traced):
    """A Proxmox cluster or a single host. Its region is the Kubernetes region of its nodes."""

    region: RegionText = "pve"  # type: ignore[assignment]  # a literal of the NewType
    """Unique name of the cluster; it becomes `topology.kubernetes.io/region`."""
    endpoint: Annotated[str, ORIGIN_URL] | None = None
    """URL of the API without a path."""
    endpoints: tuple[Annotated[str, ORIGIN_URL], ...] = ()
    """Additional API URLs, used if the first one does not answer."""
    version: Version | None = None
    """Version of Proxmox VE. None: read from the API."""
    tls: Tls = Tls()
    """How the certificate is verified."""
    token_id: Annotated[str, TOKEN_ID] | None = None
    """API token of stockman."""
    token_secret: Secret | None = None
    """Secret of the token, a UUID; or token and secret combined, `user@realm!name=UUID`, as written
    by token rotation."""
    image_storage: DatastoreText | None = None
    """Storage for downloaded images. None: the storage of the VM's system disk."""
    snippet_storage: DatastoreText | None = None
    """Storage for snippets. None: configurations are sent over the Talos API."""
    storages: tuple[DatastoreText, ...] = ()
    """Storages that VMs may use. Empty: all storages."""
    bridges: tuple[BridgeText, ...] = ()
    """Bridges that VMs may use. Empty: all bridges."""
    vnets: dict[str, Annotated[str, PVE_ID]] = field(default_factory=dict)
    """SDN zones by VNet, for VNets that VMs use as bridges: the token needs a right on the zone.
    Empty: all bridges belong to the hosts."""
    hosts: dict[str, HostLimits] = field(default_factory=dict)
    """Hosts by name, with their limits. Empty: all hosts of the cluster."""
    templates: tuple[VmTemplate, ...] = ()
    """Templates from which other tools, such as Karpenter, create VMs."""

    def image_storage_for(self, system_disk: Datastore) -> Datastore:
        """Return the storage for the image of a VM whose system disk has the given storage."""
        return self.image_storage or system_disk


StorageContent = Literal["images", "rootdir", "vztmpl", "iso", "backup", "snippets", "import"]


@record
class ZfsPool(Traced):
    """A ZFS pool on the host."""

    name: Annotated[str, PVE_ID]
    """Name of the pool."""
    layout: Literal["single", "mirror", "raidz1", "raidz2", "raidz3"] = "single"
    """How the disks are combined."""
    disks: Annotated[tuple[str, ...], NON_EMPTY]
    """Disks by stable name, `/dev/disk/by-id/...`."""
    ashift: Annotated[int, Between(9, 16)] = 12
    """Sector size as a power of two. It cannot be changed later."""
    compression: Literal["lz4", "zstd", "on", "off"] = "lz4"
    """Compression of the root dataset."""


@record
class Storage(Traced):
    """A storage of Proxmox."""

    name: Annotated[str, PVE_ID]
    """Id of the storage."""
    type: Literal[
        "dir", "zfspool", "lvm", "lvmthin", "nfs", "cifs", "rbd", "cephfs", "pbs", "btrfs"
    ]
    """Type of the storage."""
    content: tuple[StorageContent, ...] = ("images",)
    """Content types that the storage accepts."""
    path: Text | None = None
    """Directory of a `dir` or `btrfs` storage. None: other types."""
    pool: Text | None = None
    """ZFS or Ceph pool. None: other types."""
    volume_group: Text | None = None
    """LVM volume group. None: other types."""
    server: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Server of nfs, cifs and pbs. None: other types."""
    export: Text | None = None
    """NFS export. None: other types."""
    share: Text | None = None
    """CIFS share. None: other types."""
    datastore: Text | None = None
    """Datastore of a Proxmox Backup Server. None: other types."""
    username: Text | None = None
    """User of cifs and pbs. None: no user."""
    password: Secret | None = None
    """Password or token secret of cifs and pbs. None: no password."""
    fingerprint: Annotated[str, FINGERPRINT] | None = None
    """Certificate fingerprint of a Proxmox Backup Server. None: signed by a known CA."""
    shared: bool = False
    """Whether all hosts see the same content."""


@record
class HostBridge(Traced):
    """A Linux bridge on the host."""

    name: BridgeText
    """Name, for example `vmbr0`."""
    ports: tuple[str, ...] = ()
    """Physical ports or bonds of the bridge."""
    vlan_aware: bool = True
    """Whether connected cards may use VLAN tags."""
    address: IPv4Interface | None = None
    """IP address of the host on the bridge. None: no address."""
    gateway: IPv4Address | None = None
    """Default gateway of the host through the bridge. None: no default route."""
    mtu: Mtu | None = None
    """MTU of the bridge. None: 1500."""


@record
class PciMapping(Traced):
    """A PCI device mapping, which allows API tokens to use the device."""

    name: Annotated[str, PVE_ID]
    """Name of the mapping, the same on all hosts with such a device."""
    address: Annotated[str, PCI_ADDRESS]
    """PCI address on this host."""
    id: Annotated[Text, Example("10de:2571")] | None = None
    """`vendor:device`, verified before use. None: not verified."""
    description: str = ""
    """Description of the device."""


@record
class UsbMapping(Traced):
    """A USB device mapping."""

    name: Annotated[str, PVE_ID]
    """Name of the mapping."""
    id: Annotated[str, USB_ID]
    """`vendor:product` or `bus-port`."""
    description: str = ""
    """Description of the device."""


@record
class Passthrough(Traced):
    """Devices that can be passed through to guests."""

    iommu: bool = True
    """Whether the IOMMU must be enabled in the kernel."""
    modules: tuple[str, ...] = ()
    """Kernel modules to load at boot."""
    blacklist: tuple[str, ...] = ()
    """Kernel modules that must not claim the devices."""
    pci: tuple[PciMapping, ...] = ()
    """PCI devices."""
    usb: tuple[UsbMapping, ...] = ()
    """USB devices."""


@record
class HostUser(Traced):
    """A Proxmox user with a role on a path."""

    name: Annotated[str, USER_ID]
    """User, `name@realm`."""
    role: Annotated[Text, Example("PVEAuditor")]
    """Role of the user."""
    path: str = "/"
    """Path of the permission."""


@record
class Ssh(Traced):
    """SSH access to the host, for operations that the API does not support."""

    address: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Address of the SSH server. None: the address of the host."""
    port: Annotated[int, Between(1, 65_535)] = 22
    """Port of the SSH server."""
    user: str = "root"
    """Login name."""
    key: Secret | None = None
    """Private key. None: the keys of the SSH agent."""


@record
class Host(Traced):
    """Desired state of one Proxmox host. Empty lists are not managed."""

    address: Annotated[str, HOST_OR_ADDRESS] | None = None
    """Address of the host. None: its name."""
    pools: tuple[ZfsPool, ...] = ()
    """ZFS pools."""
    storages: tuple[Storage, ...] = ()
    """Storages."""
    bridges: tuple[HostBridge, ...] = ()
    """Bridges."""
    passthrough: Passthrough | None = None
    """Passed-through devices. None: no devices."""
    users: tuple[HostUser, ...] = ()
    """Users and their roles."""
    ssh: Ssh | None = None
    """SSH access. None: no SSH access."""
