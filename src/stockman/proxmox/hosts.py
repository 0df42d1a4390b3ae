"""Hosts: what they are made of, their networks, disks and devices."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, Protocol

from stockman.model.names import HostName
from stockman.model.record import record
from stockman.proxmox.tasks import TaskRef


@record
class HostStatus:
    """What a host says of itself."""

    version: str
    """`pve-manager/9.2.11/...`."""
    kernel: str
    boot_mode: str = ""
    """`efi` or `legacy-bios`. Empty: not told."""
    secure_boot: bool = False
    cpu_model: str = ""
    cores: int = 0
    """Threads of all sockets."""
    sockets: int = 1
    memory: int = 0
    """Bytes."""
    memory_used: int = 0
    root_size: int = 0
    """Bytes of the root file system."""
    root_free: int = 0
    uptime: int = 0
    """Seconds."""


@record
class HostInterface:
    """One interface in the network configuration of a host."""

    name: str
    kind: str
    """`bridge`, `eth`, `bond`, `vlan`, `OVSBridge`."""
    active: bool = False
    autostart: bool = False
    cidr: str = ""
    gateway: str = ""
    ports: tuple[str, ...] = ()
    """Of a bridge."""
    vlan_aware: bool = False
    vlan_ids: str = ""
    mtu: int | None = None
    """None: the default."""
    comment: str = ""

    @property
    def is_bridge(self) -> bool:
        return self.kind in ("bridge", "OVSBridge", "vnet")


@record
class HostNetwork:
    """The network configuration of a host."""

    interfaces: tuple[HostInterface, ...]
    unapplied: str = ""
    """Changes that wait for being applied, as a diff. Empty: none."""


@record
class HostPciDevice:
    """A PCI device of a host."""

    address: str
    """`0000:01:00.0`."""
    device_class: str
    vendor: str
    device: str
    vendor_name: str = ""
    device_name: str = ""
    iommu_group: int | None = None
    """None: the IOMMU is off, so the device cannot be given away."""
    subsystem_vendor: str = ""
    subsystem_device: str = ""
    has_mediated: bool = False


@record
class HostUsbDevice:
    """A USB device of a host."""

    vendor: str
    product: str
    vendor_name: str = ""
    product_name: str = ""
    port: str = ""
    bus: int = 0
    serial: str = ""


@record
class HostDisk:
    """A physical disk of a host."""

    path: str
    size: int
    """Bytes."""
    kind: str = ""
    model: str = ""
    serial: str = ""
    used: str = ""
    """What it is used for. Empty: nothing."""
    health: str = ""
    by_id: str = ""
    """Its stable name."""
    wwn: str = ""


@record
class ZfsPool:
    """A ZFS pool of a host."""

    name: str
    size: int
    free: int
    health: str


@record
class HostCertificate:
    """A certificate that a host keeps, or that its cluster has."""

    filename: str
    """`pve-root-ca.pem`: what signs all hosts of a cluster. `pve-ssl.pem`: the host's own."""
    pem: str = ""
    """Empty: not told."""
    fingerprint: str = ""
    """SHA-256, upper-case hex with colons."""


class Hosts(Protocol):
    """The hosts of a cluster, each by its name."""

    async def host_status(self, host: HostName) -> HostStatus:
        """What a host says of itself."""
        ...

    async def host_time(self, host: HostName) -> datetime:
        """The time of a host, to a second."""
        ...

    async def host_network(self, host: HostName) -> HostNetwork:
        """The network configuration of a host, with what waits for being applied."""
        ...

    async def create_interface(
        self, host: HostName, name: str, settings: Mapping[str, str]
    ) -> None:
        """Write an interface into the configuration; it is not there before it is applied."""
        ...

    async def update_interface(
        self, host: HostName, name: str, settings: Mapping[str, str]
    ) -> None:
        """Write an interface anew; settings that are not given are gone."""
        ...

    async def delete_interface(self, host: HostName, name: str) -> None:
        """Take an interface out of the configuration."""
        ...

    async def apply_network(self, host: HostName) -> TaskRef:
        """Make the configuration the network that there is."""
        ...

    async def revert_network(self, host: HostName) -> None:
        """Forget changes that were not applied."""
        ...

    async def pci_devices(self, host: HostName) -> tuple[HostPciDevice, ...]:
        """PCI devices that could be given to guests."""
        ...

    async def usb_devices(self, host: HostName) -> tuple[HostUsbDevice, ...]:
        """USB devices that are plugged in."""
        ...

    async def host_certificates(self, host: HostName) -> tuple[HostCertificate, ...]:
        """Certificates of a host and of its cluster; anybody who is let in may ask."""
        ...

    async def disks(self, host: HostName) -> tuple[HostDisk, ...]:
        """Physical disks."""
        ...

    async def zfs_pools(self, host: HostName) -> tuple[ZfsPool, ...]:
        """ZFS pools."""
        ...

    async def power_host(self, host: HostName, command: Literal["reboot", "shutdown"]) -> None:
        """Reboot a host or switch it off; returns when the host took the order."""
        ...
