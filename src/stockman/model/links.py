"""Network links of a Talos machine: bonds, VLANs, routes, and links besides its own."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Literal

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import LINK_NAME, Between, Example, MacText, Mtu, Vlan

BondMode = Literal[
    "active-backup",
    "802.3ad",
    "balance-rr",
    "balance-xor",
    "broadcast",
    "balance-tlb",
    "balance-alb",
]
Milliseconds = Annotated[int, Between(0, 60_000, "milliseconds")]


@record
class Route(Traced):
    """A route besides the default one."""

    network: Annotated[IPv4Network, Example("127.99.0.0/16")]
    """Where it leads to."""
    gateway: IPv4Address | None = None
    """Next hop. None: the network is on the link itself."""
    metric: Annotated[int, Between(1, 4_294_967_295)] | None = None
    """The lower wins. None: as Talos decides."""


@record
class VlanLink(Traced):
    """A VLAN on a link: up, with or without addresses."""

    id: Vlan
    """Tag."""
    mtu: Mtu | None = None
    """None: that of the link below."""
    addresses: tuple[IPv4Interface, ...] = ()
    """Addresses. Empty: none, for Multus."""
    dhcp: bool = False
    """Whether DHCP gives it an address."""
    routes: tuple[Route, ...] = ()
    """Routes by this VLAN."""


@record
class Link(Traced):
    """A network link besides the one with the node's address: up, with or without addresses."""

    name: Annotated[str, LINK_NAME]
    """Name as Talos shows it; with `mac_addr` the name that it gets."""
    mac_addr: MacText | None = None
    """MAC address that the link is found by. None: it is found by its name."""
    mtu: Mtu | None = None
    """None: the default of the link."""
    addresses: tuple[IPv4Interface, ...] = ()
    """Addresses. Empty: none, for Multus."""
    dhcp: bool = False
    """Whether DHCP gives it an address."""
    routes: tuple[Route, ...] = ()
    """Routes by this link."""
    vlans: tuple[VlanLink, ...] = ()
    """VLANs on this link."""


@record
class Bond(Traced):
    """Several network cards as one link; it takes the node's address, VLANs and virtual address."""

    name: Annotated[str, LINK_NAME] = "bond0"
    """Name of the link."""
    mode: BondMode = "active-backup"
    """How the cards share the work."""
    members: tuple[MacText, ...] = ()
    """MAC addresses of further cards. Empty: the node's own card is the only one."""
    hash_policy: Literal["layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4"] | None = None
    """What decides which card a frame takes. None: layer2."""
    lacp_rate: Literal["slow", "fast"] | None = None
    """How often the switch is told; for 802.3ad. None: slow."""
    ad_select: Literal["stable", "bandwidth", "count"] | None = None
    """Which group of cards is used; for 802.3ad. None: stable."""
    min_links: Annotated[int, Between(1, 64)] | None = None
    """Cards that must be up; for 802.3ad. None: one."""
    miimon: Milliseconds = 100
    """How often the cards are looked at; 0: never."""
    up_delay: Milliseconds = 0
    """How long a card must be up before it is used; a multiple of `miimon`."""
    down_delay: Milliseconds = 0
    """How long a card must be down before it is left; a multiple of `miimon`."""
