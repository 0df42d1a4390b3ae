"""How one network link of a machine is set up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSelector:
    """Which cards are meant, where no name is given; all that is told has to fit."""

    mac: str = ""
    """In small letters; may be a shell pattern."""
    permanent_mac: str = ""
    bus_path: str = ""
    pci_id: str = ""
    driver: str = ""
    physical: bool | None = None
    """None: does not matter."""
    expression: str = ""
    """CEL, `mac(link.permanent_addr) == "52:54:00:00:00:01"`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DhcpSetting:
    """One DHCP client on a link."""

    metric: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSetting:
    """A way into a network."""

    destination: str = ""
    """With prefix. Empty: the default route."""
    gateway: str = ""
    source: str = ""
    metric: int = 0
    """0: 1024, as Talos has it."""
    mtu: int = 0
    table: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class BondSetting:
    """Several cards as one."""

    mode: str = "balance-rr"
    members: tuple[str, ...] = ()
    selectors: tuple[LinkSelector, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeSetting:
    """A switch inside of the machine."""

    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSetting:
    """All that is said of one link, whoever says it and in how many documents."""

    name: str = ""
    """Empty: `selector` tells which one."""
    selector: LinkSelector | None = None
    """Of the link itself; of a VLAN: of its parent. None: the name tells."""
    kind: str = "physical"
    """`physical`, `vlan`, `bond`, `bridge`, `dummy`, `wireguard`, `veth`, `vrf`."""
    up: bool = True
    ignored: bool = False
    mtu: int = 0
    """0: as it comes."""
    hardware_addr: str = ""
    addresses: tuple[str, ...] = ()
    """With prefix."""
    routes: tuple[RouteSetting, ...] = ()
    dhcp4: DhcpSetting | None = None
    dhcp6: DhcpSetting | None = None
    parent: str = ""
    """Of a VLAN; empty where `selector` tells it."""
    vlan: int = 0
    bond: BondSetting | None = None
    bridge: BridgeSetting | None = None
    vips: tuple[str, ...] = ()
    """Shared addresses that may be held here."""
