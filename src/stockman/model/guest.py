"""Guests other than Talos nodes: cloud-init VMs, appliances and containers."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface
from typing import Annotated, Literal
from uuid import UUID

from stockman.model.formats import (
    HTTP_URL,
    PVE_ID,
    Between,
    DatastoreText,
    Domain,
    Example,
    GuestNameText,
    HostNameText,
    Text,
    VmidNumber,
)
from stockman.model.hardware import DataDisk, Hardware, Nic
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class CloudInit(Traced):
    """Data that cloud-init passes to a VM at its first boot."""

    user: Annotated[Text, Example("ubuntu")] | None = None
    """Login name. None: the default user of the image."""
    password: Secret | None = None
    """Login password. None: no password login."""
    ssh_keys: tuple[str, ...] = ()
    """Public SSH keys that may log in."""
    address: IPv4Interface | None = None
    """IP address with prefix length. None: DHCP."""
    gateway: IPv4Address | None = None
    """Default gateway. None: from DHCP, or no default route."""
    dns_servers: tuple[IPv4Address, ...] = ()
    """DNS servers. Empty: those of the host."""
    search_domain: Domain | None = None
    """DNS search domain. None: that of the host."""


@record
class Image(Traced):
    """Source of the system disk of a guest."""

    url: Annotated[str, HTTP_URL] | None = None
    """URL to download the image from. None: given as `volume`."""
    volume: Annotated[Text, Example("local:import/haos.qcow2")] | None = None
    """Existing volume in a storage. None: downloaded from `url`."""
    checksum: Annotated[Text, Example("sha256:" + "0" * 64)] | None = None
    """Checksum, `algorithm:hex`. None: not verified."""


@record
class GuestVm(Hardware):
    """Hardware of a VM that is not a Talos node."""

    uuid: UUID | None = None
    """SMBIOS UUID. None: derived from the names of cluster and guest."""
    disk_gb: Annotated[int, Between(1, 131_072, "GiB")] = 32
    """Size of the system disk."""
    datastore: DatastoreText = "local-lvm"  # type: ignore[assignment]  # a literal of the NewType
    """Storage of the system disk."""
    data_disks: tuple[DataDisk, ...] = ()
    """Additional disks. They are kept when the VM is recreated."""
    nics: tuple[Nic, ...] = ()
    """Network cards, in order. Empty: no network card."""
    image: Image | None = None
    """Image of the system disk. None: the disk is empty."""
    cloud_init: CloudInit | None = None
    """Cloud-init data. None: no cloud-init drive."""


@record
class MountPoint(Traced):
    """A directory mounted into a container."""

    path: Annotated[Text, Example("/media/frigate")]
    """Path in the container."""
    source: Annotated[Text, Example("local-zfs:100")]
    """`storage:GiB` for a new volume, or an absolute path on the host."""
    read_only: bool = False
    """Whether the container can only read."""
    backup: bool = False
    """Whether backups include it."""


@record
class Container(Traced):
    """An LXC container."""

    template: Annotated[Text, Example("local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst")]
    """Volume of the template that it is created from."""
    cores: Annotated[int, Between(1, 512)] = 2
    """Number of CPU cores."""
    memory: Annotated[int, Between(16, 4_178_944, "MiB")] = 1024
    """Memory in MiB."""
    swap: Annotated[int, Between(0, 4_178_944, "MiB")] = 512
    """Swap in MiB."""
    disk_gb: Annotated[int, Between(1, 131_072, "GiB")] = 8
    """Size of the root file system."""
    datastore: DatastoreText = "local-lvm"  # type: ignore[assignment]  # a literal of the NewType
    """Storage of the root file system."""
    unprivileged: bool = True
    """Whether root in the container is an unprivileged user on the host."""
    nesting: bool = False
    """Whether containers can run inside (Docker, systemd)."""
    nics: tuple[Nic, ...] = ()
    """Network cards, in order."""
    address: IPv4Interface | None = None
    """IP address with prefix length of the first card. None: DHCP."""
    gateway: IPv4Address | None = None
    """Default gateway. None: from DHCP, or no default route."""
    mounts: tuple[MountPoint, ...] = ()
    """Additional mounted directories."""
    devices: tuple[Annotated[Text, Example("/dev/dri/renderD128")], ...] = ()
    """Device nodes of the host that the container can use."""
    onboot: bool = True
    """Whether the container starts with the host."""
    protection: bool = False
    """Whether removal is refused until the protection is disabled."""
    tags: tuple[str, ...] = ()
    """Proxmox tags."""
    pool: Annotated[str, PVE_ID] | None = None
    """Proxmox resource pool. None: no pool."""
    description: str = ""
    """Notes shown in Proxmox."""


@record
class Guest(Traced):
    """A VM or container that is not a Talos node. Exactly one of `vm` and `container` must be
    set."""

    name: GuestNameText
    """Name, unique among guests and nodes."""
    vmid: VmidNumber
    """VMID, unique in the Proxmox cluster."""
    host: HostNameText
    """Proxmox host of the guest."""
    address: IPv4Address | None = None
    """IP address for health checks. None: not checked."""
    vm: GuestVm | None = None
    """Hardware of the VM. None: the guest is a container."""
    container: Container | None = None
    """Settings of the container. None: the guest is a VM."""
    manage: Literal["full", "observe"] = "full"
    """full: managed by stockman. observe: monitored, but never changed."""
