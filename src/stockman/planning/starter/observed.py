"""How the API was reached, for the files that are to reach it again."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from stockman.model.names import HostName
from stockman.model.record import record
from stockman.model.version import Version
from stockman.proxmox.hosts import HostPciDevice, HostUsbDevice

CA_FILE = "pve-root-ca.pem"
"""Name of the authority's certificate beside the files."""


@record
class ApiConnection:
    """Addresses, trust and token as they are to be written."""

    url: str
    others: tuple[str, ...] = ()
    """Further addresses, of which each answered with a certificate that is trusted."""
    silent: tuple[tuple[str, str], ...] = ()
    """Addresses of hosts that are not written: address, and why as a clause."""
    ca: str | None = None
    """PEM of the authority that signs the hosts. None: another way of trust."""
    fingerprint: str | None = None
    """That of the one certificate. None: another way of trust."""
    trust_why: str = ""
    token_id: str = "stockman@pve!stockman"
    token_why: str = ""
    token_is_given: bool = False
    """Whether its secret comes from the environment; otherwise stockman keeps it itself."""


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
    """Bytes. None: not told."""


@record
class StarterBridge:
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
class StarterHost:
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
