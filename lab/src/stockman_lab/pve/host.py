"""A host: its parts, its network, and whether it has power."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state

GIB = 1 << 30


@state
class PciDevice:
    """A PCI device, as `hardware/pci` lists it."""

    id: str
    """`0000:01:00.0`."""
    vendor: str
    """`0x10de`."""
    device: str
    vendor_name: str = ""
    device_name: str = ""
    device_class: str = "0x030000"
    subsystem_vendor: str = ""
    subsystem_device: str = ""
    iommugroup: int = -1
    """-1: the host has no IOMMU, or it is off."""
    mdev: bool = False


@state
class UsbDevice:
    """A USB device, as `hardware/usb` lists it."""

    busnum: int
    devnum: int
    usbpath: str
    """`1-2`: port by port."""
    vendid: str
    prodid: str
    manufacturer: str = ""
    product: str = ""
    serial: str = ""
    speed: str = "480"
    device_class: int = 0
    level: int = 1
    port: int = 0


@state
class PhysicalDisk:
    """A disk of a host."""

    devpath: str
    size: int
    model: str = ""
    serial: str = ""
    vendor: str = "ATA"
    wwn: str = ""
    kind: str = "ssd"
    """`ssd`, `hdd` or `nvme`."""
    used: str = ""
    """What it is used for: `ZFS`, `LVM`, `BIOS boot`, `partitions`. Empty: nothing."""
    health: str = "PASSED"
    rpm: int = 0
    gpt: bool = False
    """Whether it has a partition table though nothing uses it."""


@state
class Pool:
    """Where volumes of a host are: a ZFS pool, a volume group, a file system."""

    name: str
    """`zfs:rpool`, `lvmthin:pve/data`, `lvm:vg1`, `fs:/`."""
    size: int
    other: int = 0
    """Bytes in use by what is no volume of the world: an operating system, somebody's files."""
    disks: list[str] = field(default_factory=list)
    """Paths of the disks that it was made of. Empty: nobody knows."""
    form: str = ""
    """Of what it is: a RAID level, a file system. Empty: nobody knows."""


@state
class Host:
    """One host of a Proxmox cluster."""

    name: str
    address: str
    nodeid: int = 1
    sockets: int = 1
    cores: int = 8
    """Of all sockets together."""
    threads: int = 2
    """Of each core."""
    model: str = "Intel(R) Core(TM) i7-12700"
    mhz: str = "2100.000"
    memory: int = 64 * GIB
    swap: int = 8 * GIB
    kernel: str = ""
    """Empty: that of the profile."""
    pci: list[PciDevice] = field(default_factory=list)
    usb: list[UsbDevice] = field(default_factory=list)
    disks: list[PhysicalDisk] = field(default_factory=list)
    pools: dict[str, Pool] = field(default_factory=dict)
    interfaces: dict[str, dict[str, str]] = field(default_factory=dict)
    """`/etc/network/interfaces` as it is in force: options by name of the interface."""
    staged: dict[str, dict[str, str]] | None = None
    """Edits that wait for a reload. None: there are none."""
    directories: list[str] = field(default_factory=list)
    """Paths that exist besides those of storages: for directory mappings."""
    dns: dict[str, str] = field(default_factory=dict)
    hosts_file: str = ""
    time_zone: str = "Europe/Berlin"
    has_power: bool = True
    booted_at: float = 0.0
    clock_error: float = 0.0
    """Seconds that its clock is ahead."""
    next_pid: int = 1000
    ssh_users: list[str] = field(default_factory=lambda: ["root"])
    files: dict[str, str] = field(default_factory=dict)
    """Files written over SSH that no storage holds: path to blob."""
    modes: dict[str, int] = field(default_factory=dict)
    """Permissions of files and folders that somebody changed, by path."""

    @property
    def cpus(self) -> int:
        return self.cores * self.threads
