"""Keys of machines: nodes, their VMs, and node classes."""

from __future__ import annotations

from dataclasses import field
from ipaddress import IPv4Address
from typing import Annotated
from uuid import UUID

from stockman.config.language.talos import NodeTalos
from stockman.model.formats import (
    LABEL_KEY,
    PVE_ID,
    REQUIRED,
    TAINT,
    Between,
    BridgeText,
    ClassNameText,
    DatastoreText,
    Example,
    HostNameText,
    MacText,
    NodeNameText,
    SchematicText,
    Vlan,
    VmidNumber,
)
from stockman.model.hardware import DataDisk, Hardware, Nic
from stockman.model.machine import Bond, DiskSelector, Expect, Link, Route, VlanLink
from stockman.model.origin import Traced
from stockman.model.record import record

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

    disk: Annotated[str, Example("/dev/sda")] | None = None
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
    kernel_modules: tuple[Annotated[str, Example("nbd")], ...] = ()
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
    mac_addr: Annotated[MacText | None, REQUIRED] = None
    """MAC address of the card with the node's address."""
    class_: Annotated[ClassNameText | None, Example("worker-gpu")] = None
    """Class of the node. None: `controller` or `worker`, if such a class exists."""
