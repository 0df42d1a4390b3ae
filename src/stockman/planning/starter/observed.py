"""The observed Proxmox cluster and the connection to it, as the first files need them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from stockman.model.names import HostName
from stockman.model.record import record
from stockman.model.version import Version
from stockman.proxmox.hosts import HostPciDevice, HostUsbDevice

CA_FILE = "pve-root-ca.pem"
"""File name of the certificate of the authority."""


@record
class ApiConnection:
    """Addresses, trust and token for the files."""

    url: str
    others: tuple[str, ...] = ()
    """Other addresses that answered with a trusted certificate."""
    silent: tuple[tuple[str, str], ...] = ()
    """Addresses that are not used, with the reason."""
    ca: str | None = None
    """PEM of the authority that signs the hosts' certificates. None: trusted in another way."""
    fingerprint: str | None = None
    """Fingerprint of the certificate. None: trusted in another way."""
    trust_why: str = ""
    token_id: str = "stockman@pve!stockman"
    token_why: str = ""
    token_is_given: bool = False
    """Whether its secret comes from the environment; otherwise stockman stores it."""


GIB = 1 << 30
MIB = 1 << 20


@record
class StarterStorage:
    """A storage on one host."""

    name: str
    kind: str
    """`zfspool`, `dir`."""
    content: frozenset[str]
    shared: bool
    available: bool
    free: int | None
    """Bytes. None: unknown."""


@record
class StarterBridge:
    """A bridge of a host, or a VLAN on it that the host uses."""

    name: str
    active: bool
    vlan_aware: bool
    address: IPv4Interface | None
    """Address of the host on it. None: it has none."""
    gateway: IPv4Address | None
    """None: not the default route of the host."""
    vlan: int | None = None
    """None: untagged."""

    @property
    def label(self) -> str:
        """Its name in the files."""
        return self.name if self.vlan is None else f"{self.name} VLAN {self.vlan}"

    @property
    def network(self) -> IPv4Network | None:
        """None: the host has no address on it."""
        return None if self.address is None else self.address.network


@record
class StarterHost:
    """A host that is online."""

    name: HostName
    address: str
    """Its address. Empty: unknown."""
    is_local: bool
    """Whether it is the host that answered."""
    cores: int
    memory: int
    """MiB."""
    promised: int
    """MiB that are assigned to guests, running or not."""
    storages: tuple[StarterStorage, ...]
    bridges: tuple[StarterBridge, ...]
    pci: tuple[HostPciDevice, ...] = ()
    usb: tuple[HostUsbDevice, ...] = ()


@record
class StarterCluster:
    """Everything that the first files depend on."""

    version: Version
    cluster: str
    """Empty: a single host."""
    hosts: tuple[StarterHost, ...]
    """Online hosts by name."""
    away: tuple[tuple[str, str], ...]
    """Hosts that are left out: name and reason."""
    guests: frozenset[int]
    """VMIDs of visible guests."""
    addresses: frozenset[IPv4Address] = frozenset()
    """Configured addresses of guests."""
    tags: frozenset[str] = frozenset()
    """Tags of guests."""
    mappings: tuple[str, ...] = ()
    """Device mappings, `pci gpu on pve1`."""
    unseen: tuple[str, ...] = ()
    """What is not visible, as clauses."""
