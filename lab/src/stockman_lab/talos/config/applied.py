"""Records of a network that is set up: what there is, and who said so."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from stockman_lab.guest.network import Network, NicView


class Layer(Enum):
    """Who says something of the network; later ones win over earlier ones."""

    KERNEL = ""
    """Nobody: the kernel does it by itself."""
    DEFAULT = "default"
    CMDLINE = "cmdline"
    PLATFORM = "platform"
    OPERATOR = "operator"
    CONFIGURATION = "configuration"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNetwork:
    """What a network is set up of, besides what is told."""

    minor: str
    nics: tuple[NicView, ...]
    network: Network
    node_id: str = ""
    """Of the machine, from which a name is made. Empty: it has none yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedLink:
    """One link."""

    name: str
    kind: str = "physical"
    """`physical`, `loopback`, `vlan`, `bond`, `bridge`, `dummy`, `wireguard`, `veth`, `vrf`."""
    index: int = 0
    """As the kernel counts them, 1 is `lo`."""
    mac: str = ""
    permanent_mac: str = ""
    mtu: int = 1500
    up: bool = True
    """Whether it is switched on."""
    carrier: bool = True
    """Whether a cable is in it."""
    layer: Layer = Layer.DEFAULT
    aliases: tuple[str, ...] = ()
    alt_names: tuple[str, ...] = ()
    master: str = ""
    """The bond or bridge that it belongs to."""
    parent: str = ""
    vlan: int = 0
    bond_mode: str = ""
    driver: str = ""
    bus_path: str = ""
    pci_id: str = ""
    nic: int | None = None
    """Number of the card. None: it is no card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedAddress:
    """One address of a link."""

    link: str
    address: str
    """With prefix."""
    scope: str = "global"
    """`global`, `host`, `link`."""
    layer: Layer
    priority: int = 0

    @property
    def family(self) -> str:
        return "inet6" if ":" in self.address else "inet4"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedRoute:
    """One way into a network."""

    link: str
    destination: str = ""
    """Empty: the default route."""
    gateway: str = ""
    source: str = ""
    metric: int = 1024
    scope: str = "global"
    table: str = "main"
    layer: Layer

    @property
    def family(self) -> str:
        return "inet6" if ":" in f"{self.destination}{self.gateway}" else "inet4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Something that keeps asking for settings: `dhcp4`, `dhcp6` or `vip`."""

    kind: str
    link: str
    layer: Layer
    metric: int = 1024
    vip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedNetwork:
    """The whole network of a machine."""

    links: tuple[AppliedLink, ...] = ()
    addresses: tuple[AppliedAddress, ...] = ()
    routes: tuple[AppliedRoute, ...] = ()
    operators: tuple[Operator, ...] = ()
    resolvers: tuple[str, ...] = ()
    search_domains: tuple[str, ...] = ()
    time_servers: tuple[str, ...] = ()
    hostname: str = ""
    """Without the domain. Empty: it has none yet."""
    domain: str = ""
    vips: dict[str, str] = field(default_factory=dict)
    """Links by the shared addresses that they would hold."""

    def link(self, name: str) -> AppliedLink | None:
        """A link by any of its names. None: there is none."""
        for link in self.links:
            if name == link.name or name in link.aliases or name in link.alt_names:
                return link
        return None

    @property
    def node_addresses(self) -> tuple[str, ...]:
        """Addresses under which others reach the machine, without prefix."""
        return tuple(
            address.address.partition("/")[0]
            for address in self.addresses
            if address.scope == "global"
        )
