"""Links of a machine, out of the old network section and out of documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman_lab.talos.config.documents import Documents
from stockman_lab.talos.config.link_setting import (
    BondSetting,
    BridgeSetting,
    DhcpSetting,
    LinkSelector,
    LinkSetting,
    RouteSetting,
)
from stockman_lab.talos.config.values import (
    Tree,
    at,
    flag,
    items,
    mapping,
    mappings,
    number,
    text,
    texts,
)

DEFAULT_METRIC = 1024
_LINKS = {
    "LinkConfig": "physical",
    "BondConfig": "bond",
    "BridgeConfig": "bridge",
    "DummyLinkConfig": "dummy",
    "WireguardConfig": "wireguard",
    "VRFConfig": "vrf",
    "VethConfig": "veth",
    "VLANConfig": "vlan",
}
"""Kinds of links by kinds of documents; all VLANs after what they may stand on."""
_ANY = ("0.0.0.0/0", "::/0")


def links(documents: Documents) -> tuple[LinkSetting, ...]:
    """All links that are spoken of, in their order."""
    old = mappings(at(documents.machine, "network", "interfaces"))
    links = [link for device in old for link in _device(device)]
    return (*links, *_from_documents(documents))


def speaks_of_links(documents: Documents) -> bool:
    """Whether a document speaks of links or of DHCP, so that others are left alone."""
    return bool(documents.several([*_LINKS, "DHCPv4Config", "DHCPv6Config"]))


def aliases(documents: Documents) -> dict[str, LinkSelector]:
    return {
        text(document.get("name")): LinkSelector(expression=text(at(document, "selector", "match")))
        for document in documents.all("LinkAliasConfig")
    }


def _device(device: Tree) -> Iterator[LinkSetting]:
    selector = selected(mapping(device.get("deviceSelector")))
    name = text(device.get("interface"))
    kind, bond, bridge = "physical", None, None
    if isinstance(device.get("bond"), dict):
        kind, bond = "bond", _old_bond(mapping(device["bond"]))
    elif isinstance(device.get("bridge"), dict):
        kind, bridge = "bridge", _bridge(mapping(device["bridge"]), "interfaces", "vlanFiltering")
    elif isinstance(device.get("wireguard"), dict):
        kind = "wireguard"
    elif flag(device.get("dummy")):
        kind = "dummy"
    base = LinkSetting(
        name=name,
        selector=selector,
        kind=kind,
        ignored=flag(device.get("ignore")),
        bond=bond,
        bridge=bridge,
    )
    yield _old_face(base, device)
    for vlan in mappings(device.get("vlans")):
        number_of = number(vlan.get("vlanId"))
        yield _old_face(
            LinkSetting(
                name=f"{name}.{number_of}" if name else "",
                selector=selector,
                kind="vlan",
                parent=name,
                vlan=number_of,
                ignored=base.ignored,
            ),
            vlan,
        )


def selected(tree: Tree) -> LinkSelector | None:
    """A selector of the old network section. None: there is none."""
    if not tree:
        return None
    return LinkSelector(
        mac=text(tree.get("hardwareAddr")).lower(),
        permanent_mac=text(tree.get("permanentAddr")).lower(),
        bus_path=text(tree.get("busPath")),
        pci_id=text(tree.get("pciID")),
        driver=text(tree.get("driver")),
        physical=flag(tree["physical"]) if "physical" in tree else None,
    )


def _old_bond(tree: Tree) -> BondSetting:
    chosen = (selected(entry) for entry in mappings(tree.get("deviceSelectors")))
    return BondSetting(
        mode=text(tree.get("mode"), "balance-rr"),
        members=texts(tree.get("interfaces")),
        selectors=tuple(one for one in chosen if one is not None),
    )


def _bridge(tree: Tree, members: str, filtering: str) -> BridgeSetting:
    return BridgeSetting(members=texts(tree.get(members)))


def _old_face(link: LinkSetting, tree: Tree) -> LinkSetting:
    options = mapping(tree.get("dhcpOptions"))
    asks = flag(tree.get("dhcp"))
    dhcp = DhcpSetting(metric=number(options.get("routeMetric")) or DEFAULT_METRIC)
    addresses = texts(tree.get("addresses")) or tuple(filter(None, [text(tree.get("cidr"))]))
    return replace(
        link,
        mtu=number(tree.get("mtu")),
        addresses=addresses,
        routes=tuple(_route(entry, "network") for entry in mappings(tree.get("routes"))),
        dhcp4=dhcp if asks and flag(options.get("ipv4"), default=True) else None,
        dhcp6=dhcp if asks and flag(options.get("ipv6")) else None,
        vips=tuple(filter(None, [text(at(tree, "vip", "ip"))])),
    )


def _route(tree: Tree, destination: str) -> RouteSetting:
    target = text(tree.get(destination))
    return RouteSetting(
        destination="" if target in _ANY else target,
        gateway=text(tree.get("gateway")),
        source=text(tree.get("source")),
        metric=number(tree.get("metric")),
        mtu=number(tree.get("mtu")),
        table=text(tree.get("table"), "main"),
    )


def _from_documents(documents: Documents) -> Iterator[LinkSetting]:
    replaces = {
        text(one.get("name")): _link(_LINKS[kind], one) for kind, one in documents.several(_LINKS)
    }
    for kind in ("DHCPv4Config", "DHCPv6Config"):
        for document in documents.all(kind):
            name = text(document.get("name"))
            link = replaces.get(name) or LinkSetting(name=name)
            dhcp = _dhcp(document)
            asked = replace(link, dhcp4=dhcp) if "v4" in kind else replace(link, dhcp6=dhcp)
            replaces[name] = asked
    for _, document in documents.several(("Layer2VIPConfig", "HCloudVIPConfig")):
        name = text(document.get("link"))
        link = replaces.get(name) or LinkSetting(name=name)
        replaces[name] = replace(link, vips=(*link.vips, text(document.get("name"))))
    yield from replaces.values()


def _link(kind: str, tree: Tree) -> LinkSetting:
    bond = bridge = None
    if kind == "bond":
        bond = BondSetting(
            mode=text(tree.get("bondMode"), "balance-rr"), members=texts(tree.get("links"))
        )
    elif kind in ("bridge", "vrf"):
        bridge = _bridge(tree, "links", "filtering")
    return LinkSetting(
        name=text(tree.get("name")),
        kind=kind,
        up=flag(tree.get("up"), default=True),
        mtu=number(tree.get("mtu")),
        hardware_addr=text(tree.get("hardwareAddr")).lower(),
        addresses=tuple(text(entry.get("address")) for entry in mappings(tree.get("addresses"))),
        routes=tuple(_route(entry, "destination") for entry in mappings(tree.get("routes"))),
        parent=text(tree.get("parent")),
        vlan=number(tree.get("vlanID")),
        bond=bond,
        bridge=bridge,
    )


def _dhcp(tree: Tree) -> DhcpSetting:
    return DhcpSetting(metric=number(tree.get("routeMetric"), DEFAULT_METRIC))


def nameservers(documents: Documents) -> tuple[str, ...]:
    resolver = documents.one("ResolverConfig")
    if resolver is not None and items(resolver.get("nameservers")):
        return tuple(text(entry.get("address")) for entry in mappings(resolver["nameservers"]))
    return texts(at(documents.machine, "network", "nameservers"))
