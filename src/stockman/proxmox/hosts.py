"""Hosts: status, network, disks and devices."""

from __future__ import annotations

from stockman.model.record import record


@record
class HostInterface:
    """A network interface in the configuration of a host."""

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
    """Pending changes, as a diff. Empty: none."""


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
    """None: the IOMMU is off, so the device cannot be passed through."""
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
class HostCertificate:
    """A certificate of a host or of its cluster."""

    filename: str
    """`pve-root-ca.pem`: the CA of the cluster. `pve-ssl.pem`: the certificate of the host."""
    pem: str = ""
    """Empty: unknown."""
    fingerprint: str = ""
    """SHA-256, upper-case hex with colons."""
