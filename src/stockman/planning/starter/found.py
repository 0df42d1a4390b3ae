"""What was found in a Proxmox cluster before there are any files."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from stockman.model.names import HostName
from stockman.model.record import record
from stockman.model.version import Version
from stockman.ports.proxmox.hosts import PciFound, UsbFound

GIB = 1 << 30
MIB = 1 << 20


@record
class FoundStorage:
    """A storage on one host."""

    name: str
    kind: str
    """`zfspool`, `dir`."""
    content: frozenset[str]
    shared: bool
    available: bool
    free: int | None
    """Bytes. None: not told."""


@record
class FoundBridge:
    """A bridge of one host, or a VLAN on it that the host itself is in."""

    name: str
    active: bool
    vlan_aware: bool
    address: IPv4Interface | None
    """That of the host on it. None: it has none there."""
    gateway: IPv4Address | None
    """None: the host goes out another way."""
    vlan: int | None = None
    """None: what is not tagged."""

    @property
    def label(self) -> str:
        """How it is called in the files."""
        return self.name if self.vlan is None else f"{self.name} VLAN {self.vlan}"

    @property
    def network(self) -> IPv4Network | None:
        """None: the host has no address on it."""
        return None if self.address is None else self.address.network


@record
class FoundHost:
    """A host that is up."""

    name: HostName
    address: str
    """Where it answers. Empty: not told."""
    is_local: bool
    """Whether it is the one that answered."""
    cores: int
    memory: int
    """MiB."""
    promised: int
    """MiB that guests have already, whether they run or not."""
    storages: tuple[FoundStorage, ...]
    bridges: tuple[FoundBridge, ...]
    pci: tuple[PciFound, ...] = ()
    usb: tuple[UsbFound, ...] = ()


@record
class Found:
    """Everything that the first files depend on."""

    version: Version
    cluster: str
    """Empty: a single host."""
    hosts: tuple[FoundHost, ...]
    """Those that are up, by name."""
    away: tuple[tuple[str, str], ...]
    """Hosts that are left out: name, and why as a clause."""
    guests: frozenset[int]
    """Numbers of guests that were seen."""
    addresses: frozenset[IPv4Address] = frozenset()
    """Addresses that guests have by their configuration."""
    tags: frozenset[str] = frozenset()
    """Tags of guests."""
    mappings: tuple[str, ...] = ()
    """Mappings of devices, `pci gpu on pve1`."""
    unseen: tuple[str, ...] = ()
    """What could not be looked at, as clauses."""
