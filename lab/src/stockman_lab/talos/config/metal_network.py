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
    links = {text(entry.get("name")): _link(entry) for entry in mappings(told.get("links"))}

    def known(name: str) -> LinkSetting:
        return links.get(name) or LinkSetting(name=name)

    for entry in mappings(told.get("links")):
        master = text(entry.get("masterName"))
        bond = known(master).bond
        if bond is not None:
            joined = replace(bond, members=(*bond.members, text(entry.get("name"))))
            links[master] = replace(links[master], bond=joined)
    for entry in mappings(told.get("addresses")):
        name = text(entry.get("linkName"))
        link = known(name)
        links[name] = replace(link, addresses=(*link.addresses, text(entry.get("address"))))
    for entry in mappings(told.get("routes")):
        name = text(entry.get("outLinkName"))
        link = known(name)
        links[name] = replace(link, routes=(*link.routes, _route(entry)))
    for entry in mappings(told.get("operators")):
        name, kind = text(entry.get("linkName")), text(entry.get("operator"))
        dhcp = DhcpSetting(metric=number(at(entry, kind, "routeMetric")) or DhcpSetting().metric)
        link = known(name)
        links[name] = replace(link, dhcp4=dhcp) if kind == "dhcp4" else replace(link, dhcp6=dhcp)
    names = [text(entry.get("hostname")) for entry in mappings(told.get("hostnames"))]
    return MetalNetwork(
        hostname=names[0] if names else "",
        links=tuple(links.values()),
        nameservers=_texts_of_all(told, "resolvers", "dnsServers"),
        time_servers=_texts_of_all(told, "timeServers", "timeServers"),
    )


def _texts_of_all(tree: Tree, text: str, key: str) -> tuple[str, ...]:
    return tuple(item for entry in mappings(tree.get(text)) for item in texts(entry.get(key)))


def _link(tree: Tree) -> LinkSetting:
    kind = text(tree.get("kind")) or "physical"
    bond = BondSetting(mode=text(at(tree, "bondMaster", "mode"), "balance-rr"))
    return LinkSetting(
        name=text(tree.get("name")),
        kind=kind,
        up=flag(tree.get("up")),
        mtu=number(tree.get("mtu")),
        parent=text(tree.get("parentName")),
        vlan=number(at(tree, "vlan", "vlanID")),
        bond=bond if kind == "bond" else None,
    )


def _route(tree: Tree) -> RouteSetting:
    return RouteSetting(
        destination=text(tree.get("dst")),
        gateway=text(tree.get("gateway")),
        source=text(tree.get("src")),
        metric=number(tree.get("priority")),
        table=text(tree.get("table"), "main"),
    )
