"""Virtual hardware of VMs, for Talos nodes and other guests."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.model.formats import (
    BOOT_DEVICE,
    PCI_ADDRESS,
    PVE_ID,
    TAG,
    USB_ID,
    Between,
    BridgeText,
    DatastoreText,
    Example,
    MacText,
    Mtu,
    Name,
    Text,
    Vlan,
)
from stockman.model.origin import Traced
from stockman.model.record import record

ScsiController = Literal[
    "virtio-scsi-pci", "virtio-scsi-single", "lsi", "lsi53c810", "megasas", "pvscsi"
]


@record
class Nic(Traced):
    """A virtual network card. The order of cards is significant: the first one is `eth0`."""

    bridge: BridgeText
    """Bridge on the host that the card is connected to."""
    vlan_id: Vlan | None = None
    """VLAN tag on the bridge. None: untagged, the native VLAN of the bridge."""
    mac_addr: MacText | None = None
    """MAC address. None: derived from cluster, node and position."""
    mtu: Mtu | None = None
    """MTU of the card. None: the MTU of the bridge."""
    firewall: bool = False
    """Whether the Proxmox firewall filters this card."""
    model: Literal["virtio", "e1000", "e1000e", "rtl8139", "vmxnet3"] = "virtio"
    """Card model. Talos needs virtio."""
    queues: Annotated[int, Between(1, 64)] | None = None
    """Number of packet queues of a virtio card in a VM. None: one."""


@record
class DataDisk(Traced):
    """A disk in addition to the system disk. It is kept when the VM is recreated."""

    name: Name
    """Name of the disk, unique in the VM. It is also its serial number inside the guest."""
    size_gb: Annotated[int, Between(1, 131_072, "GiB")]
    """Size of the disk."""
    datastore: DatastoreText | None = None
    """Storage of the disk. None: the storage of the system disk."""
    ssd: bool = True
    """Whether the guest sees a solid-state disk."""
    discard: bool = True
    """Whether freed blocks are returned to the storage."""
    backup: bool = True
    """Whether Proxmox backups include the disk."""
    keep: bool = True
    """Whether the disk is kept when its VM is removed. False: it is deleted with the VM."""


@record
class EfiDisk(Traced):
    """The small disk that stores UEFI variables. It is only used with `bios: ovmf`."""

    datastore: DatastoreText | None = None
    """Storage of the disk. None: the storage of the system disk."""
    pre_enrolled_keys: bool = False
    """Whether Microsoft's SecureBoot keys are enrolled. Talos SecureBoot enrolls its own keys, so
    the default is false."""


@record
class Tpm(Traced):
    """A virtual TPM, required for disk encryption bound to the machine."""

    datastore: DatastoreText | None = None
    """Storage of the TPM state. None: the storage of the system disk."""
    version: Literal["v2.0", "v1.2"] = "v2.0"
    """Version of the TPM standard."""


@record
class PciDevice(Traced):
    """A PCI device passed through to the VM, by mapping (preferred, because an API token can use
    it) or by address."""

    mapping: Annotated[str, PVE_ID] | None = None
    """Name of a Proxmox resource mapping."""
    address: Annotated[str, PCI_ADDRESS] | None = None
    """PCI address on the host. Only root can use it, not an API token."""
    pcie: bool = True
    """Whether the device is a PCI Express device. It requires `machine: q35`."""
    rombar: bool = True
    """Whether the guest sees the option ROM of the device."""
    primary_gpu: bool = False
    """Whether the device is the only display."""
    mdev: Text | None = None
    """Type of a mediated device (vGPU). None: the whole device."""


@record
class UsbDevice(Traced):
    """A USB device passed through to the VM, by mapping or by id."""

    mapping: Annotated[str, PVE_ID] | None = None
    """Name of a Proxmox resource mapping."""
    id: Annotated[str, USB_ID] | None = None
    """`vendor:product` or `bus-port`. Only root can use it, not an API token."""
    usb3: bool = True
    """Whether the device is attached to a USB 3 controller."""


@record
class HighAvailability(Traced):
    """Proxmox high availability of the VM."""

    enabled: bool = True
    """Whether the VM is an HA resource."""
    group: Annotated[str, PVE_ID] | None = None
    """HA group (Proxmox 8) or node affinity rule (Proxmox 9). None: any host."""
    state: Literal["started", "stopped", "ignored"] = "started"
    """State that HA maintains."""
    max_restart: Annotated[int, Between(0, 10)] = 1
    """Maximum number of restarts on the same host."""
    max_relocate: Annotated[int, Between(0, 10)] = 1
    """Maximum number of moves to another host."""


@record
class StartOrder(Traced):
    """Start and shutdown order of the VM on its host."""

    order: Annotated[int, Between(0, 10_000)] | None = None
    """Position in the order; lower numbers start earlier. None: after all VMs with a position."""
    up_delay: Annotated[int, Between(0, 86_400, "seconds")] = 0
    """Delay after starting this VM."""
    down_delay: Annotated[int, Between(0, 86_400, "seconds")] = 180
    """How long to wait for the shutdown of this VM."""


@record
class Hardware(Traced):
    """CPU, memory, firmware and devices of a VM."""

    cores: Annotated[int, Between(1, 512)] = 4
    """Number of CPU cores per socket."""
    sockets: Annotated[int, Between(1, 4)] = 1
    """Number of CPU sockets."""
    memory: Annotated[int, Between(128, 4_178_944, "MiB")] = 8192
    """Memory in MiB."""
    balloon: Annotated[int, Between(0, 4_178_944, "MiB")] = 0
    """Minimum memory in MiB when the host reclaims memory. 0 disables ballooning, which is
    recommended for Kubernetes."""
    numa: bool = False
    """Whether the guest sees the NUMA topology of the host."""
    cpu_type: Annotated[Text, Example("host"), Example("x86-64-v3")] = "host"
    """CPU model. `host` is fastest; a named model allows live migration between different hosts."""
    machine: Literal["q35", "pc"] = "q35"
    """Chipset. PCI Express requires q35."""
    bios: Literal["ovmf", "seabios"] = "ovmf"
    """Firmware: UEFI (ovmf) or BIOS (seabios)."""
    efi_disk: EfiDisk = EfiDisk()
    """Disk for UEFI variables, used with `bios: ovmf`."""
    tpm: Tpm | None = None
    """Virtual TPM. None: no TPM."""
    scsihw: ScsiController = "virtio-scsi-pci"
    """SCSI controller. With `virtio-scsi-single` the bootstrap of Talos can hang."""
    pci: tuple[PciDevice, ...] = ()
    """PCI devices passed through to the VM."""
    usb: tuple[UsbDevice, ...] = ()
    """USB devices passed through to the VM."""
    ha: HighAvailability | None = None
    """High availability. None: not an HA resource."""
    tags: tuple[Annotated[str, TAG], ...] = ()
    """Proxmox tags, in addition to those that stockman sets."""
    pool: Annotated[str, PVE_ID] | None = None
    """Proxmox resource pool. None: no pool."""
    start_order: StartOrder = StartOrder()
    """Order and delays at boot and shutdown of the host."""
    onboot: bool = True
    """Whether the VM starts with the host."""
    protection: bool = False
    """Whether removal of the VM and its disks is refused until the protection is disabled."""
    boot_order: tuple[Annotated[str, BOOT_DEVICE], ...] = ()
    """Boot devices, in order. Empty: the system disk."""
    serial: bool = True
    """Whether the VM has a serial console. Talos logs to it."""
    vga: Literal["std", "serial0", "virtio", "qxl", "none", "vmware"] = "std"
    """Type of the display."""
    agent: bool = True
    """Whether the guest agent channel is enabled. Talos also needs the qemu-guest-agent
    extension."""
    description: str = ""
    """Notes shown in Proxmox."""
