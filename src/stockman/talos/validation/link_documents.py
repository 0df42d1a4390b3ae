"""Rules of documents about links: cards, bonds, bridges, VLANs, BGP and others."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface

from stockman.talos.validation.formats import HIGHEST_PORT, base64_key_error, is_unspecified
from stockman.talos.validation.interfaces import check_wireguard_key
from stockman.talos.validation.report import ConfigValue, Rule, check_name, required
from stockman.talos.validation.shared_rules import matches

_HIGHEST_VLAN = 4094
_LONGEST_LINK = 15
_RESERVED_TABLES = ("", "unspec", "local", "main", "default")


def check_link(link: ConfigValue) -> None:
    """Check a link with addresses and routes."""
    check_name(link)
    _check_link_fields(link)


def _check_link_fields(link: ConfigValue) -> None:
    for address in link["addresses"].items:
        value = address["address"]
        if not value.text or is_unspecified(value.text):
            value.error(
                "machine.address",
                f"{address.name} has no address",
                why="0.0.0.0 and :: are not addresses" if value.text else "address is missing",
                fix="use an address such as 10.42.0.21/24",
            )
    for route in link["routes"].items:
        for key in ("destination", "gateway", "source"):
            field = route[key]
            if field.text and is_unspecified(field.text):
                default = "; the default route has no destination" if key == "destination" else ""
                field.error(
                    "machine.route",
                    f"{field.name} is {field.text}",
                    why=f"0.0.0.0 and :: are not addresses{default}",
                    fix=f"remove the {key}, or use another",
                )


def _check_bond_mode(bond: ConfigValue) -> None:
    mode = bond["bondMode"]
    if not mode.present:
        mode.missing("a bond needs a mode, active-backup for example")
    elif bond.minor >= 13 and mode.text == "802.3ad":
        for key in ("miimon", "updelay", "downdelay"):
            if not bond[key].present:
                bond[key].warn(
                    "machine.incomplete",
                    f"{bond[key].name} is not set",
                    why="a bond of mode 802.3ad needs it to detect a dead link",
                    fix=f"set `{key}:`, in milliseconds",
                )


def _check_vlan_id(vlan: ConfigValue) -> None:
    vlan["vlanID"].check_range(1, _HIGHEST_VLAN, "VLAN IDs are", "set the ID of the VLAN")


def _check_table(vrf: ConfigValue) -> None:
    table = vrf["table"]
    if table.text in _RESERVED_TABLES:
        table.error(
            "machine.route",
            f"{table.name} is reserved by Linux",
            why=f"{table.text or 'none'} cannot belong to a VRF",
            fix="use another number, 100 for example",
        )


def _check_veth(veth: ConfigValue) -> None:
    peer = veth["peer"]
    for field in (veth["name"], peer["name"]):
        if wrong := _link_name_error(field.text):
            what = f"{field.name} is not a valid link name"
            field.error("machine.name", what, why=wrong, fix="rename it")
    if veth["name"].text and veth["name"].text == peer["name"].text:
        peer["name"].error(
            "machine.name",
            f"both ends of the pair have the name {peer['name'].text}",
            why="link names are unique",
            fix="rename one of them",
        )
    _check_link_fields(veth)
    _check_link_fields(peer)


def _link_name_error(text: str) -> str:
    if not text:
        return "it is missing"
    if len(text.encode()) > _LONGEST_LINK:
        return f"link names have at most {_LONGEST_LINK} characters"
    if text in (".", "..") or any(mark in text for mark in "/:"):
        return "it must not contain / or :"
    if not text.isprintable() or any(letter.isspace() for letter in text):
        return "it must not contain spaces"
    return ""


def _check_alias_name(alias: ConfigValue) -> None:
    check_name(alias)
    name = alias["name"]
    if alias.minor >= 13 and "%" in name.text:
        before, _, after = name.text.partition("%")
        if after != "d" or not before:
            name.error(
                "machine.name",
                f"{name.text!r} is not a valid name pattern",
                why="a name with a % must end with %d, with text before it",
                fix="use a name such as net%d",
            )


def _check_wireguard(tunnel: ConfigValue) -> None:
    check_wireguard_key(tunnel["privateKey"])
    tunnel["listenPort"].check_range(0, HIGHEST_PORT, "ports are", "use 51820, or leave it out")
    for peer in tunnel["peers"].items:
        check_wireguard_key(peer["publicKey"])
        shared = peer["presharedKey"]
        if shared.text and base64_key_error(shared.text):
            check_wireguard_key(shared)
        peer["persistentKeepaliveInterval"].check_not_negative()


def _check_bgp(document: ConfigValue) -> None:
    if not document["localASN"].number:
        document["localASN"].missing("BGP needs a local AS number")
    router = document["routerID"]
    if router.text and ip_address(router.text.partition("%")[0]).version != 4:
        why = "it must have the form of an IPv4 address"
        _report_bgp(router, why, "use one of the machine")
    neighbors = document["neighbors"]
    if neighbors.is_empty:
        neighbors.warn(
            "machine.incomplete",
            f"{document.label} has no neighbors",
            why="the instance has no peers",
            fix="add neighbors, or remove the document",
        )
    _check_neighbors(document, neighbors)
    _check_imports(document)


def _report_bgp(field: ConfigValue, why: str, fix: str) -> None:
    field.error("machine.bgp", f"{field.name} is invalid", why=why, fix=fix)


def _check_neighbors(document: ConfigValue, neighbors: ConfigValue) -> None:
    seen: set[str] = set()
    for neighbor in neighbors.items:
        address, link = neighbor["address"].text, neighbor["link"].text
        if bool(address) == bool(link):
            _report_bgp(neighbor, "it needs either an address or a link", "keep one")
        elif (address or link) in seen:
            _report_bgp(neighbor, f"{address or link} is listed twice", "remove one")
        else:
            seen.add(address or link)
        neighbor["holdTime"].check_not_negative()
        detection = neighbor["bfd"]
        if detection.present and document["vrf"].text:
            _report_bgp(detection, "BFD does not work inside a VRF", "remove it")
        for key in ("transmitInterval", "receiveInterval"):
            detection[key].check_not_negative()


def _check_imports(document: ConfigValue) -> None:
    sources: set[str] = set()
    prefixes: list[str] = []
    for route in document["importRoutes"].items:
        source = route["bgpInstance"]
        if not source.text:
            source.missing("routes are imported from another instance")
        elif source.text == document["name"].text or source.text in sources:
            why = "each other instance can be imported once"
            _report_bgp(source, why, "use another instance")
        sources.add(source.text)
        route["prefixes"].require("only routes to listed networks are imported")
        for prefix in route["prefixes"].items:
            _check_prefix_filter(prefix, prefixes)


def _check_prefix_filter(prefix: ConfigValue, known: list[str]) -> None:
    if not prefix.text:
        _report_bgp(prefix, "it is empty", "write a network")
        return
    interface = ip_interface(prefix.text)
    if interface.ip != interface.network.network_address:
        _report_bgp(prefix, f"it is an address in {interface.network}", "write the network")
    for known_prefix in known:
        network = ip_interface(known_prefix).network
        if network.version == interface.version and network.overlaps(interface.network):
            _report_bgp(prefix, f"it overlaps {known_prefix}", "remove one of the two")
    known.append(prefix.text)


RULES: dict[str, tuple[Rule, ...]] = {
    "BGPInstanceConfig": (check_name, _check_bgp),
    "BondConfig": (check_link, required("links", "a bond consists of links"), _check_bond_mode),
    "BridgeConfig": (check_link,),
    "DummyLinkConfig": (check_link,),
    "EthernetConfig": (check_name,),
    "LinkAliasConfig": (
        _check_alias_name,
        matches("selector.match", "link", "an alias needs a selector of links"),
    ),
    "LinkConfig": (check_link,),
    "VLANConfig": (check_link, _check_vlan_id, required("parent", "a VLAN needs a parent link")),
    "VRFConfig": (check_link, _check_table),
    "VethConfig": (_check_veth,),
    "WireguardConfig": (check_link, _check_wireguard),
}
