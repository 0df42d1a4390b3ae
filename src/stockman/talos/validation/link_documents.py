"""Rules of documents about links: cards, bonds, bridges, VLANs, BGP and others."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface

from stockman.talos.validation.cel.checker import check_expression
from stockman.talos.validation.cel.environments import LINK
from stockman.talos.validation.formats import base64_key_error, is_unspecified
from stockman.talos.validation.interfaces import check_wireguard_key
from stockman.talos.validation.report import ConfigValue, ValidationReport

_HIGHEST_VLAN = 4094
_HIGHEST_PORT = 65535
_LONGEST_LINK = 15
_RESERVED_TABLES = ("", "unspec", "local", "main", "default")


def check_name(report: ValidationReport, document: ConfigValue) -> None:
    """Check that a document has a name."""
    if not document["name"].text:
        kind = document.label.partition(" ")[0]
        report.missing(document["name"], f"a {kind} is identified by its name")


def check_link(report: ValidationReport, link: ConfigValue) -> None:
    """Check a link with addresses and routes."""
    check_name(report, link)
    check_link_fields(report, link)


def check_link_fields(report: ValidationReport, link: ConfigValue) -> None:
    for address in link["addresses"].items:
        value = address["address"]
        if not value.text or is_unspecified(value.text):
            report.error(
                "machine.address",
                value,
                f"{address.name} has no address",
                why="0.0.0.0 and :: are not addresses" if value.text else "address is missing",
                fix="use an address such as 10.42.0.21/24",
            )
    for route in link["routes"].items:
        for key in ("destination", "gateway", "source"):
            field = route[key]
            if field.text and is_unspecified(field.text):
                report.error(
                    "machine.route",
                    field,
                    f"{field.name} is {field.text}",
                    why="0.0.0.0 and :: are not addresses"
                    + ("; the default route has no destination" if key[0] == "d" else ""),
                    fix=f"remove the {key}, or use another",
                )


def check_bond_document(report: ValidationReport, bond: ConfigValue) -> None:
    check_link(report, bond)
    if bond["links"].is_empty:
        report.missing(bond["links"], "a bond consists of links")
    mode = bond["bondMode"]
    if not mode.present:
        report.missing(mode, "a bond needs a mode, active-backup for example")
    elif report.minor >= 13 and mode.text == "802.3ad":
        for key in ("miimon", "updelay", "downdelay"):
            if not bond[key].present:
                report.warn(
                    "machine.incomplete",
                    bond[key],
                    f"{bond[key].name} is not set",
                    why="a bond of mode 802.3ad needs it to detect a dead link",
                    fix=f"set `{key}:`, in milliseconds",
                )


def check_vlan(report: ValidationReport, vlan: ConfigValue) -> None:
    check_link(report, vlan)
    number = vlan["vlanID"]
    if not 1 <= number.number <= _HIGHEST_VLAN:
        report.error(
            "machine.range",
            number,
            f"{number.name} is {number.number}",
            why=f"VLAN IDs are 1 to {_HIGHEST_VLAN}",
            fix="set the ID of the VLAN",
        )
    if not vlan["parent"].text:
        report.missing(vlan["parent"], "a VLAN needs a parent link")


def check_vrf(report: ValidationReport, vrf: ConfigValue) -> None:
    check_link(report, vrf)
    table = vrf["table"]
    if table.text in _RESERVED_TABLES:
        report.error(
            "machine.route",
            table,
            f"{table.name} is reserved by Linux",
            why=f"{table.text or 'none'} cannot belong to a VRF",
            fix="use another number, 100 for example",
        )


def check_veth(report: ValidationReport, veth: ConfigValue) -> None:
    peer = veth["peer"]
    for field in (veth["name"], peer["name"]):
        wrong = _link_name_error(field.text)
        if wrong:
            report.error(
                "machine.name",
                field,
                f"{field.name} is not a valid link name",
                why=wrong,
                fix="rename it",
            )
    if veth["name"].text and veth["name"].text == peer["name"].text:
        report.error(
            "machine.name",
            peer["name"],
            f"both ends of the pair have the name {peer['name'].text}",
            why="link names are unique",
            fix="rename one of them",
        )
    check_link_fields(report, veth)
    check_link_fields(report, peer)


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


def check_link_alias(report: ValidationReport, alias: ConfigValue) -> None:
    name = alias["name"]
    if not name.text:
        check_name(report, alias)
    elif report.minor >= 13 and "%" in name.text:
        before, _, after = name.text.partition("%")
        if after != "d" or not before:
            report.error(
                "machine.name",
                name,
                f"{name.text!r} is not a valid name pattern",
                why="a name with a % must end with %d, with text before it",
                fix="use a name such as net%d",
            )
    match = alias.down("selector.match")
    if not match.text:
        report.missing(match, "an alias needs a selector of links")
    else:
        check_expression(report, match, LINK)


def check_wireguard(report: ValidationReport, tunnel: ConfigValue) -> None:
    check_link(report, tunnel)
    check_wireguard_key(report, tunnel["privateKey"])
    port = tunnel["listenPort"]
    if not 0 <= port.number <= _HIGHEST_PORT:
        report.error(
            "machine.range",
            port,
            f"{port.name} is {port.number}",
            why=f"ports are 0 to {_HIGHEST_PORT}",
            fix="use 51820, or leave it out",
        )
    for peer in tunnel["peers"].items:
        check_wireguard_key(report, peer["publicKey"])
        shared = peer["presharedKey"]
        if shared.text and base64_key_error(shared.text):
            check_wireguard_key(report, shared)
        check_not_negative(report, peer["persistentKeepaliveInterval"])


def check_not_negative(report: ValidationReport, span: ConfigValue) -> None:
    """Check that a time or number is not negative."""
    if span.text.startswith("-") and span.text != "-0":
        report.error(
            "machine.range",
            span,
            f"{span.name} is {span.text}",
            why="it must not be negative",
            fix="remove the minus, or leave it out",
        )


def check_bgp(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    if not document["localASN"].number:
        report.missing(document["localASN"], "BGP needs a local AS number")
    router = document["routerID"]
    if router.text and ip_address(router.text.partition("%")[0]).version != 4:
        _report_bgp(
            report, router, "it must have the form of an IPv4 address", "use one of the machine"
        )
    neighbors = document["neighbors"]
    if neighbors.is_empty:
        report.warn(
            "machine.incomplete",
            neighbors,
            f"{document.label} has no neighbors",
            why="the instance has no peers",
            fix="add neighbors, or remove the document",
        )
    _check_neighbors(report, document, neighbors)
    _check_imports(report, document)


def _report_bgp(report: ValidationReport, field: ConfigValue, why: str, fix: str) -> None:
    report.error("machine.bgp", field, f"{field.name} is invalid", why=why, fix=fix)


def _check_neighbors(
    report: ValidationReport, document: ConfigValue, neighbors: ConfigValue
) -> None:
    seen: set[str] = set()
    for neighbor in neighbors.items:
        address, link = neighbor["address"].text, neighbor["link"].text
        if bool(address) == bool(link):
            _report_bgp(report, neighbor, "it needs either an address or a link", "keep one")
        elif (address or link) in seen:
            _report_bgp(report, neighbor, f"{address or link} is listed twice", "remove one")
        else:
            seen.add(address or link)
        check_not_negative(report, neighbor["holdTime"])
        detection = neighbor["bfd"]
        if detection.present and document["vrf"].text:
            _report_bgp(report, detection, "BFD does not work inside a VRF", "remove it")
        for key in ("transmitInterval", "receiveInterval"):
            check_not_negative(report, detection[key])


def _check_imports(report: ValidationReport, document: ConfigValue) -> None:
    sources: set[str] = set()
    prefixes: list[str] = []
    for route in document["importRoutes"].items:
        source = route["bgpInstance"]
        if not source.text:
            report.missing(source, "routes are imported from another instance")
        elif source.text == document["name"].text or source.text in sources:
            why = "each other instance can be imported once"
            _report_bgp(report, source, why, "use another instance")
        sources.add(source.text)
        if route["prefixes"].is_empty:
            report.missing(route["prefixes"], "only routes to listed networks are imported")
        for prefix in route["prefixes"].items:
            _check_prefix_filter(report, prefix, prefixes)


def _check_prefix_filter(report: ValidationReport, prefix: ConfigValue, known: list[str]) -> None:
    if not prefix.text:
        _report_bgp(report, prefix, "it is empty", "write a network")
        return
    interface = ip_interface(prefix.text)
    if interface.ip != interface.network.network_address:
        _report_bgp(report, prefix, f"it is an address in {interface.network}", "write the network")
    for known_prefix in known:
        network = ip_interface(known_prefix).network
        if network.version == interface.version and network.overlaps(interface.network):
            _report_bgp(report, prefix, f"it overlaps {known_prefix}", "remove one of the two")
    known.append(prefix.text)
