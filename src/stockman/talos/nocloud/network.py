"""The network of a machine before it has a configuration, in no format's words."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from stockman.model.record import record


@record
class Hop:
    """A route besides the default one."""

    network: IPv4Network
    gateway: IPv4Address
    metric: int | None = None
    """None: as Talos decides."""


@record
class Bonding:
    """How several cards are one link."""

    mode: str
    members: tuple[str, ...]
    """Names of the links in it."""
    miimon: int = 0
    """Milliseconds; 0: not said."""
    up_delay: int = 0
    down_delay: int = 0
    lacp_rate: str = ""
    """Empty: not said."""
    hash_policy: str = ""
    """Empty: not said."""
    others: tuple[str, ...] = ()
    """Names of further options that were asked for; no format has words for them."""


@record
class Interface:
    """One link: a card, a bond or a VLAN. It is up."""

    name: str
    mac: str = ""
    """Found by this address. Empty: by its name."""
    bond: Bonding | None = None
    """None: not a bond."""
    vlan: int | None = None
    """None: not a VLAN."""
    parent: str = ""
    """Of a VLAN: the link below."""
    mtu: int | None = None
    """None: not said."""
    addresses: tuple[IPv4Interface, ...] = ()
    dhcp: bool = False
    gateway: IPv4Address | None = None
    """None: no default route by this link."""
    hops: tuple[Hop, ...] = ()


@record
class NodeNetwork:
    """All links, those below others first, and who answers names."""

    interfaces: tuple[Interface, ...]
    resolvers: tuple[IPv4Address, ...] = ()
    search_domains: tuple[str, ...] = ()

    @property
    def cards(self) -> tuple[Interface, ...]:
        return tuple(one for one in self.interfaces if one.bond is None and one.vlan is None)

    @property
    def bonds(self) -> tuple[Interface, ...]:
        return tuple(one for one in self.interfaces if one.bond is not None)

    @property
    def vlans(self) -> tuple[Interface, ...]:
        return tuple(one for one in self.interfaces if one.vlan is not None)


@record
class Wish:
    """Something wanted of the network or the machine that a format cannot say."""

    what: str
    why: str
    needed: bool = True
    """Whether the machine would be lost or wrong without it. False: its configuration says it
    later."""
