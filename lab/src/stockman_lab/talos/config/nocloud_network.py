"""`network-config` of a NoCloud drive, version 1, which Proxmox VE writes, as Talos reads it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_interface

from stockman_lab.talos.config.link_setting import (
    BondSetting,
    DhcpSetting,
    LinkSelector,
    LinkSetting,
    RouteSetting,
)
from stockman_lab.talos.config.values import (
    Tree,
    first,
    loaded,
    mapping,
    mappings,
    number,
    text,
    texts,
)

METRIC, METRIC6 = 1024, 2048
_DHCP = {"dhcp", "dhcp4"}
_DHCP6 = "ipv6_dhcpv6-stateful"
_STATIC = {"static", "static6"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCloudNetwork:
    """Links and resolvers."""

    links: tuple[LinkSetting, ...] = ()
    """A selector goes first; where no card fits it the name is taken."""
    nameservers: tuple[str, ...] = ()


def nocloud_network(raw: bytes) -> NoCloudNetwork | None:
    """What a file says. None: Talos cannot use it, and takes nothing from the drive."""
    decoded = first(loaded(raw))
    if decoded is None:
        return None
    told = mapping(decoded["network"]) if "network" in decoded else decoded
    version = number(told.get("version"))
    try:
        return _links(list(mappings(told.get("config")))) if version == 1 else None
    except ValueError:
        return None


def _links(entries: list[Tree]) -> NoCloudNetwork:
    makers = {"physical": _physical, "bond": _bond, "vlan": _vlan}
    links = [
        makers[kind](entry) for entry in entries if (kind := text(entry.get("type"))) in makers
    ]
    servers = [
        str(ip_address(server))
        for entry in entries
        if entry.get("type") == "nameserver"
        for server in texts(entry.get("address"))
    ]
    return NoCloudNetwork(links=tuple(links), nameservers=tuple(servers))


def _physical(entry: Tree) -> LinkSetting:
    return _subnets(entry, selector=_selector(entry.get("mac_address")))


def _selector(mac: object) -> LinkSelector | None:
    return LinkSelector(permanent_mac=text(mac).lower()) if mac else None


def _bond(entry: Tree) -> LinkSetting:
    params = mapping(entry.get("params"))
    members = texts(entry.get("bond_interfaces"))
    bond = _bond_setting(text(params.get("bond-mode")), members)
    return _subnets(entry, kind="bond", bond=bond)


def _bond_setting(mode: str, members: tuple[str, ...]) -> BondSetting:
    if not mode:
        raise ValueError("a bond without a mode")
    return BondSetting(mode=mode, members=members)


def _vlan(entry: Tree) -> LinkSetting:
    parent = text(entry.get("vlan_link"))
    return _subnets(entry, kind="vlan", parent=parent, vlan=number(entry.get("vlan_id")))


def _subnets(  # noqa: PLR0913 - what kinds of links differ in
    entry: Tree,
    *,
    kind: str = "physical",
    selector: LinkSelector | None = None,
    bond: BondSetting | None = None,
    parent: str = "",
    vlan: int = 0,
) -> LinkSetting:
    subnets = list(mappings(entry.get("subnets")))
    kinds = {text(subnet.get("type")) for subnet in subnets}
    static = [subnet for subnet in subnets if subnet.get("type") in _STATIC]
    return LinkSetting(
        name=text(entry.get("name")),
        selector=selector,
        kind=kind,
        bond=bond,
        parent=parent,
        vlan=vlan,
        mtu=number(entry.get("mtu")),
        addresses=tuple(_address(one) for one in static),
        routes=tuple(_gateway(text(one["gateway"])) for one in static if one.get("gateway")),
        dhcp4=DhcpSetting(metric=METRIC) if kinds & _DHCP else None,
        dhcp6=DhcpSetting(metric=METRIC6) if _DHCP6 in kinds else None,
    )


def _address(subnet: Tree) -> str:
    address, mask = text(subnet.get("address")), text(subnet.get("netmask"))
    if "/" not in address and not mask:
        raise ValueError(f"{address} without a mask")
    found = ip_interface(address if "/" in address else f"{address}/{mask}")
    return f"{found.ip}/{found.network.prefixlen}"


def _gateway(gateway: str) -> RouteSetting:
    version = ip_address(gateway).version
    return RouteSetting(gateway=gateway, metric=METRIC if version == 4 else METRIC6)
