"""Virtual hardware: what a VM is made of, for Talos nodes and other guests alike."""

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
    Vlan,
)
from stockman.model.origin import Traced
from stockman.model.record import record

ScsiController = Literal[
    "virtio-scsi-pci", "virtio-scsi-single", "lsi", "lsi53c810", "megasas", "pvscsi"
]


@record
class Nic(Traced):
    """One virtual network card. The order of cards is part of the contract: the first is `eth0`."""

    bridge: BridgeText
    """Bridge on the host that the card is plugged into."""
    vlan_id: Vlan | None = None
    """VLAN tag on the bridge. None: untagged, the bridge's native VLAN."""
    mac_addr: MacText | None = None
    """Hardware address. None: derived from cluster, node and position, and so stable."""
    mtu: Mtu | None = None
    """None: the MTU of the bridge."""
    firewall: bool = False
    """Whether the Proxmox firewall filters this card."""
    model: Literal["virtio", "e1000", "e1000e", "rtl8139", "vmxnet3"] = "virtio"
    """Card model; Talos wants virtio."""
    queues: Annotated[int, Between(1, 64)] | None = None
    """Queues for packets, of a VM's virtio card. None: one."""


@record
class DataDisk(Traced):
    """A disk besides the system disk. It survives when the VM is recreated."""

    name: Name
    """Name of the disk, unique in the VM; also its serial number inside of the guest."""
    size_gb: Annotated[int, Between(1, 131_072, "GiB")]
    """Size."""
    datastore: DatastoreText | None = None
    """Storage that holds it. None: the storage of the system disk."""
    ssd: bool = True
    """Whether the guest sees a solid-state disk."""
    discard: bool = True
    """Whether freed blocks are given back to the storage."""
    backup: bool = True
    """Whether Proxmox backups include it."""
    keep: bool = True
    """Whether the disk outlives its VM. False: it is destroyed with it."""


@record
class EfiDisk(Traced):
    """The small disk that holds UEFI variables; only with `bios: ovmf`."""

    datastore: DatastoreText | None = None
    """Storage. None: the storage of the system disk."""
    pre_enrolled_keys: bool = False
    """Microsoft's keys; Talos SecureBoot enrols its own, so they stay off."""


@record
class Tpm(Traced):
    """A virtual TPM, needed for disk encryption bound to the machine."""

    datastore: DatastoreText | None = None
    """Storage. None: the storage of the system disk."""
    version: Literal["v2.0", "v1.2"] = "v2.0"
    """Version of the standard."""


@record
class PciDevice(Traced):
    """A PCI device given to the VM, by mapping (preferred: no root token needed) or by address."""

    mapping: Annotated[str, PVE_ID] | None = None
    """Name of a Proxmox resource mapping."""
    address: Annotated[str, PCI_ADDRESS] | None = None
    """Address on the host; root may use it, a token may not."""
    pcie: bool = True
    """PCI Express; needs `machine: q35`."""
    rombar: bool = True
    """Whether the guest sees the device's option ROM."""
    primary_gpu: bool = False
    """Whether this is the only display."""
    mdev: str | None = None
    """Type of a mediated device (vGPU). None: the whole device."""


@record
class UsbDevice(Traced):
    """A USB device given to the VM, by mapping or by id."""

    mapping: Annotated[str, PVE_ID] | None = None
    """Name of a Proxmox resource mapping."""
    id: Annotated[str, USB_ID] | None = None
    """`vendor:product` or `bus-port`; root may use it, a token may not."""
    usb3: bool = True
    """Attach to a USB 3 controller."""


@record
class HighAvailability(Traced):
    """Proxmox high availability for this VM."""

    enabled: bool = True
    """Whether the VM is an HA resource."""
    group: Annotated[str, PVE_ID] | None = None
    """HA group (Proxmox 8) or node affinity rule (Proxmox 9). None: any host."""
    state: Literal["started", "stopped", "ignored"] = "started"
    """State that HA keeps."""
    max_restart: Annotated[int, Between(0, 10)] = 1
    """Restarts on the same host."""
    max_relocate: Annotated[int, Between(0, 10)] = 1
    """Moves to another host."""


@record
class StartOrder(Traced):
    """When the VM starts and stops with its host."""

    order: Annotated[int, Between(0, 10_000)] | None = None
    """Lower starts earlier. None: after all that have one."""
    up_delay: Annotated[int, Between(0, 86_400, "seconds")] = 0
    """Wait after this start."""
    down_delay: Annotated[int, Between(0, 86_400, "seconds")] = 180
    """Wait for this shutdown."""


@record
class Hardware(Traced):
    """CPU, memory, firmware and devices of a VM."""

    cores: Annotated[int, Between(1, 512)] = 4
    """CPU cores per socket."""
    sockets: Annotated[int, Between(1, 4)] = 1
    """CPU sockets."""
    memory: Annotated[int, Between(128, 4_178_944, "MiB")] = 8192
    """Memory in MiB."""
    balloon: Annotated[int, Between(0, 4_178_944, "MiB")] = 0
    """Least memory under pressure in MiB; 0 switches ballooning off, which Kubernetes wants."""
    numa: bool = False
    """Whether the guest sees the host's memory topology."""
    cpu_type: Annotated[str, Example("host"), Example("x86-64-v3")] = "host"
    """CPU model; `host` is fastest, a named model allows live migration between unlike hosts."""
    machine: Literal["q35", "pc"] = "q35"
    """Chipset; PCI Express needs q35."""
    bios: Literal["ovmf", "seabios"] = "ovmf"
    """Firmware: UEFI or BIOS."""
    efi_disk: EfiDisk = EfiDisk()
    """Disk for UEFI variables; used with `bios: ovmf`."""
    tpm: Tpm | None = None
    """None: no TPM."""
    scsihw: ScsiController = "virtio-scsi-pci"
    """SCSI controller. `virtio-scsi-single` makes Talos hang at bootstrap."""
    pci: tuple[PciDevice, ...] = ()
    """PCI devices given to the VM."""
    usb: tuple[UsbDevice, ...] = ()
    """USB devices given to the VM."""
    ha: HighAvailability | None = None
    """None: not an HA resource."""
    tags: tuple[Annotated[str, TAG], ...] = ()
    """Proxmox tags, besides those that stockman sets."""
    pool: Annotated[str, PVE_ID] | None = None
    """Proxmox resource pool. None: no pool."""
    start_order: StartOrder = StartOrder()
    """Order and delays at host boot and shutdown."""
    onboot: bool = True
    """Start with the host."""
    protection: bool = False
    """Refuse removal of the VM and its disks until switched off."""
    boot_order: tuple[Annotated[str, BOOT_DEVICE], ...] = ()
    """Devices to boot from, first to last. Empty: the system disk."""
    serial: bool = True
    """A serial console; Talos logs to it."""
    vga: Literal["std", "serial0", "virtio", "qxl", "none", "vmware"] = "std"
    """Display."""
    agent: bool = True
    """Guest agent channel; Talos needs the qemu-guest-agent extension as well."""
    description: str = ""
    """Notes shown in Proxmox."""
