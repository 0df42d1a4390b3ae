"""Machines: nodes, their VMs, and classes that nodes inherit from."""

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
    """Proxmox id, unique in the cluster. Needed for every node with a VM."""
    host: HostNameText | None = None
    """Host it lives on. Needed for every node with a VM."""
    region: Annotated[str, PVE_ID] | None = None
    """Proxmox cluster, by region. None: the only one."""
    uuid: UUID | None = None
    """SMBIOS UUID. None: derived from cluster and node name, and so stable."""
    disk_gb: Annotated[int, Between(6, 131_072, "GiB")] = 32
    """Size of the system disk."""
    datastore: DatastoreText = "local-lvm"  # type: ignore[assignment]  # a literal of the NewType
    """Storage of the system disk."""
    data_disks: tuple[DataDisk, ...] = ()
    """Further disks; they survive when the VM is recreated."""
    bridge: BridgeText = "vmbr0"  # type: ignore[assignment]  # a literal of the NewType
    """Bridge of the only network card; used when `nics` is not given."""
    vlan_id: Vlan | None = None
    """VLAN of the only network card. None: untagged."""
    nics: tuple[Nic, ...] = ()
    """Network cards, in order; the first has the node's MAC address. Empty: one card
    on `bridge`."""
    ha_group: Annotated[str, PVE_ID] | None = None
    """HA group of the VM, short for `ha: {group: ...}`. None: see `ha`."""


@record
class NodeKeys(Traced):
    """What a node has and a class may give."""

    disk: Annotated[str, Example("/dev/sda")] | None = None
    """Disk that Talos is installed on: a path, or a serial number."""
    disk_selector: DiskSelector | None = None
    """Disk that Talos is installed on, by what it is. None: see `disk`."""
    schematic_id: SchematicText | None = None
    """Image Factory schematic. None: the cluster's."""
    mtu: NodeMtu = 1500
    """MTU of the node's link."""
    secureboot: bool = False
    """Boot with SecureBoot images; needs `bios: ovmf`."""
    encrypt_disk: bool = False
    """Encrypt STATE and EPHEMERAL with a key in the TPM."""
    kernel_modules: tuple[Annotated[str, Example("nbd")], ...] = ()
    """Kernel modules to load."""
    vm: VmSection | None = None
    """The VM. None: the machine is not made by stockman."""
    talos: NodeTalos = NodeTalos()
    """Extensions, kernel arguments, patches and settings."""
    bond: Bond | None = None
    """None: the card with the node's MAC address has its address."""
    routes: tuple[Route, ...] = ()
    """Routes besides the default one."""
    vlans: tuple[VlanLink, ...] = ()
    """VLANs on the node's link, besides the one with its address."""
    links: tuple[Link, ...] = ()
    """Links besides the node's own (VLAN cards for Multus)."""
    labels: dict[Annotated[str, LABEL_KEY], str] = field(default_factory=dict)
    """Kubernetes labels."""
    annotations: dict[Annotated[str, LABEL_KEY], str] = field(default_factory=dict)
    """Kubernetes annotations."""
    taints: dict[Annotated[str, LABEL_KEY], Annotated[str, TAINT]] = field(default_factory=dict)
    """Kubernetes taints."""
    expect: Expect = Expect()
    """What gates check after the node came up."""


@record
class ClassSection(NodeKeys):
    """What nodes have in common. `controller` and `worker` hold for nodes that name no class."""

    extends: ClassNameText | None = None
    """Class that this one builds on. None: none."""


@record
class NodeSection(NodeKeys):
    """One Talos machine."""

    name: Annotated[NodeNameText | None, REQUIRED] = None
    """Host name; also the name of its VM."""
    address: Annotated[IPv4Address | None, REQUIRED, Example("127.66.0.11")] = None
    """Address in the node network."""
    controller: Annotated[bool | None, REQUIRED] = None
    """Whether it runs the control plane."""
    mac_addr: Annotated[MacText | None, REQUIRED] = None
    """MAC address of the card with the node's address."""
    class_: Annotated[ClassNameText | None, Example("worker-gpu")] = None
    """Class. None: `controller` or `worker`, if there is such a class."""
