"""The network that a metal machine keeps in its META partition, under the key 0x0a."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stockman_lab.talos.config.link_setting import (
    BondSetting,
    DhcpSetting,
    LinkSetting,
    RouteSetting,
)
from stockman_lab.talos.config.values import (
    Tree,
    at,
    first,
    flag,
    loaded,
    mappings,
    number,
    text,
    texts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetalNetwork:
    """What is written there."""

    hostname: str = ""
    links: tuple[LinkSetting, ...] = ()
    nameservers: tuple[str, ...] = ()
    time_servers: tuple[str, ...] = ()


def metal_network(raw: bytes) -> MetalNetwork:
    """What a value of the key says; nothing where it is no YAML."""
    told = first(loaded(raw)) or {}
    links = {text(one.get("name")): _link(one) for one in mappings(told.get("links"))}

    def known(name: str) -> LinkSetting:
        return links.get(name) or LinkSetting(name=name)

    for one in mappings(told.get("links")):
        master = text(one.get("masterName"))
        bond = known(master).bond
        if bond is not None:
            joined = replace(bond, members=(*bond.members, text(one.get("name"))))
            links[master] = replace(links[master], bond=joined)
    for one in mappings(told.get("addresses")):
        name = text(one.get("linkName"))
        link = known(name)
        links[name] = replace(link, addresses=(*link.addresses, text(one.get("address"))))
    for one in mappings(told.get("routes")):
        name = text(one.get("outLinkName"))
        link = known(name)
        links[name] = replace(link, routes=(*link.routes, _route(one)))
    for one in mappings(told.get("operators")):
        name, kind = text(one.get("linkName")), text(one.get("operator"))
        dhcp = DhcpSetting(metric=number(at(one, kind, "routeMetric")) or DhcpSetting().metric)
        link = known(name)
        links[name] = replace(link, dhcp4=dhcp) if kind == "dhcp4" else replace(link, dhcp6=dhcp)
    names = [text(one.get("hostname")) for one in mappings(told.get("hostnames"))]
    return MetalNetwork(
        hostname=names[0] if names else "",
        links=tuple(links.values()),
        nameservers=_listed(told, "resolvers", "dnsServers"),
        time_servers=_listed(told, "timeServers", "timeServers"),
    )


def _listed(told: Tree, part: str, key: str) -> tuple[str, ...]:
    return tuple(item for one in mappings(told.get(part)) for item in texts(one.get(key)))


def _link(told: Tree) -> LinkSetting:
    kind = text(told.get("kind")) or "physical"
    bond = BondSetting(mode=text(at(told, "bondMaster", "mode"), "balance-rr"))
    return LinkSetting(
        name=text(told.get("name")),
        kind=kind,
        up=flag(told.get("up")),
        mtu=number(told.get("mtu")),
        parent=text(told.get("parentName")),
        vlan=number(at(told, "vlan", "vlanID")),
        bond=bond if kind == "bond" else None,
    )


def _route(told: Tree) -> RouteSetting:
    return RouteSetting(
        destination=text(told.get("dst")),
        gateway=text(told.get("gateway")),
        source=text(told.get("src")),
        metric=number(told.get("priority")),
        table=text(told.get("table"), "main"),
    )
