"""Guests that are not Talos nodes: cloud-init VMs, appliances, containers."""

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
    VmidNumber,
)
from stockman.model.hardware import DataDisk, Hardware, Nic
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class CloudInit(Traced):
    """What a cloud image is told at its first boot."""

    user: Annotated[str, Example("ubuntu")] | None = None
    """Login name. None: the image's own."""
    password: Secret | None = None
    """None: no password login."""
    ssh_keys: tuple[str, ...] = ()
    """Public keys that may log in."""
    address: IPv4Interface | None = None
    """Address with prefix. None: DHCP."""
    gateway: IPv4Address | None = None
    """None: by DHCP, or no default route."""
    dns_servers: tuple[IPv4Address, ...] = ()
    """Empty: the host's."""
    search_domain: Domain | None = None
    """None: the host's."""


@record
class Image(Traced):
    """What a guest's system disk is made from."""

    url: Annotated[str, HTTP_URL] | None = None
    """Where to download it. None: `volume` names it."""
    volume: Annotated[str, Example("local:import/haos.qcow2")] | None = None
    """A volume that the storage has already. None: `url` says where to get it."""
    checksum: Annotated[str, Example("sha256:" + "0" * 64)] | None = None
    """Checksum, `algorithm:hex`. None: not checked."""


@record
class GuestVm(Hardware):
    """Hardware of a VM that is not a Talos node."""

    uuid: UUID | None = None
    """SMBIOS UUID. None: derived from cluster and guest name, and so stable."""
    disk_gb: Annotated[int, Between(1, 131_072, "GiB")] = 32
    """Size of the system disk."""
    datastore: DatastoreText = "local-lvm"  # type: ignore[assignment]  # a literal of the NewType
    """Storage of the system disk."""
    data_disks: tuple[DataDisk, ...] = ()
    """Further disks; they survive when the VM is recreated."""
    nics: tuple[Nic, ...] = ()
    """Network cards, in order. Empty: none."""
    image: Image | None = None
    """None: an empty disk."""
    cloud_init: CloudInit | None = None
    """None: no cloud-init drive."""


@record
class MountPoint(Traced):
    """A directory inside of a container."""

    path: Annotated[str, Example("/media/frigate")]
    """Path in the container."""
    source: Annotated[str, Example("local-zfs:100")]
    """`storage:GiB` for a new volume, or an absolute path of the host."""
    read_only: bool = False
    """Whether the container may write."""
    backup: bool = False
    """Whether backups include it."""


@record
class Container(Traced):
    """An LXC container."""

    template: Annotated[str, Example("local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst")]
    """Template volume it is made from."""
    cores: Annotated[int, Between(1, 512)] = 2
    """CPU cores."""
    memory: Annotated[int, Between(16, 4_178_944, "MiB")] = 1024
    """Memory in MiB."""
    swap: Annotated[int, Between(0, 4_178_944, "MiB")] = 512
    """Swap in MiB."""
    disk_gb: Annotated[int, Between(1, 131_072, "GiB")] = 8
    """Size of the root file system."""
    datastore: DatastoreText = "local-lvm"  # type: ignore[assignment]  # a literal of the NewType
    """Storage of the root file system."""
    unprivileged: bool = True
    """Whether root inside is nobody outside."""
    nesting: bool = False
    """Whether containers may run inside (Docker, systemd)."""
    nics: tuple[Nic, ...] = ()
    """Network cards, in order."""
    address: IPv4Interface | None = None
    """Address with prefix of the first card. None: DHCP."""
    gateway: IPv4Address | None = None
    """None: by DHCP, or no default route."""
    mounts: tuple[MountPoint, ...] = ()
    """Further directories."""
    devices: tuple[Annotated[str, Example("/dev/dri/renderD128")], ...] = ()
    """Device nodes of the host that the container may use."""
    onboot: bool = True
    """Start with the host."""
    protection: bool = False
    """Refuse removal until switched off."""
    tags: tuple[str, ...] = ()
    """Proxmox tags."""
    pool: Annotated[str, PVE_ID] | None = None
    """Proxmox resource pool. None: no pool."""
    description: str = ""
    """Notes shown in Proxmox."""


@record
class Guest(Traced):
    """A VM or container that is not a Talos node: exactly one of `vm` and `container`."""

    name: GuestNameText
    """Name, unique among guests and nodes."""
    vmid: VmidNumber
    """Proxmox id, unique in the cluster."""
    host: HostNameText
    """Host it lives on."""
    address: IPv4Address | None = None
    """Where it answers, for health checks. None: not checked."""
    vm: GuestVm | None = None
    """Hardware of a VM. None: it is a container."""
    container: Container | None = None
    """A container. None: it is a VM."""
    manage: Literal["full", "observe"] = "full"
    """observe: known and watched, never changed."""
