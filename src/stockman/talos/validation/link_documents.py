"""Rules of documents about links: cards, bonds, bridges, VLANs and the like."""

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
    """A document that needs a name."""
    if not document["name"].text:
        kind = document.label.partition(" ")[0]
        report.missing(document["name"], f"a {kind} says by its name what it is about")


def check_link(report: ValidationReport, link: ConfigValue) -> None:
    """A link with addresses and routes."""
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
                why="0.0.0.0 and :: are none" if value.text else "address is missing",
                fix="write one such as 10.42.0.21/24",
            )
    for route in link["routes"].items:
        for key in ("destination", "gateway", "source"):
            part = route[key]
            if part.text and is_unspecified(part.text):
                report.error(
                    "machine.route",
                    part,
                    f"{part.name} is {part.text}",
                    why="0.0.0.0 and :: are no addresses"
                    + ("; the route to everywhere has no destination" if key[0] == "d" else ""),
                    fix=f"remove the {key}, or write another",
                )


def check_bond_document(report: ValidationReport, bond: ConfigValue) -> None:
    check_link(report, bond)
    if bond["links"].is_empty:
        report.missing(bond["links"], "a bond bundles links")
    mode = bond["bondMode"]
    if not mode.present:
        report.missing(mode, "a bond works in one of several modes, active-backup for example")
    elif report.minor >= 13 and mode.text == "802.3ad":
        for key in ("miimon", "updelay", "downdelay"):
            if not bond[key].present:
                report.warn(
                    "machine.incomplete",
                    bond[key],
                    f"{bond[key].name} is not said",
                    why="a bond of mode 802.3ad notices a dead link by it",
                    fix=f"write `{key}:`, in milliseconds",
                )


def check_vlan(report: ValidationReport, vlan: ConfigValue) -> None:
    check_link(report, vlan)
    number = vlan["vlanID"]
    if not 1 <= number.number <= _HIGHEST_VLAN:
        report.error(
            "machine.range",
            number,
            f"{number.name} is {number.number}",
            why=f"numbers of VLANs are 1 to {_HIGHEST_VLAN}",
            fix="write the number of the VLAN",
        )
    if not vlan["parent"].text:
        report.missing(vlan["parent"], "a VLAN lies over another link")


def check_vrf(report: ValidationReport, vrf: ConfigValue) -> None:
    check_link(report, vrf)
    table = vrf["table"]
    if table.text in _RESERVED_TABLES:
        report.error(
            "machine.route",
            table,
            f"{table.name} is a table that Linux keeps for itself",
            why=f"{table.text or 'none'} cannot belong to a VRF",
            fix="write another number, 100 for example",
        )


def check_veth(report: ValidationReport, veth: ConfigValue) -> None:
    peer = veth["peer"]
    for part in (veth["name"], peer["name"]):
        wrong = _link_name_error(part.text)
        if wrong:
            report.error(
                "machine.name",
                part,
                f"{part.name} is no name of a link",
                why=wrong,
                fix="rename it",
            )
    if veth["name"].text and veth["name"].text == peer["name"].text:
        report.error(
            "machine.name",
            peer["name"],
            f"both ends of the pair are called {peer['name'].text}",
            why="a name belongs to one link",
            fix="rename one of them",
        )
    check_link_fields(report, veth)
    check_link_fields(report, peer)


def _link_name_error(text: str) -> str:
    if not text:
        return "it is missing"
    if len(text.encode()) > _LONGEST_LINK:
        return f"names of links have {_LONGEST_LINK} characters at most"
    if text in (".", "..") or any(mark in text for mark in "/:"):
        return "it may hold no / and no :"
    if not text.isprintable() or any(letter.isspace() for letter in text):
        return "it may hold no spaces"
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
                f"{name.text!r} numbers links in no way that Talos knows",
                why="a name with a % ends with %d, and has something before it",
                fix="write a name such as net%d",
            )
    match = alias.down("selector.match")
    if not match.text:
        report.missing(match, "an alias says of which links it speaks")
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
            why=f"ports are numbers up to {_HIGHEST_PORT}",
            fix="write 51820, or leave it out",
        )
    for peer in tunnel["peers"].items:
        check_wireguard_key(report, peer["publicKey"])
        shared = peer["presharedKey"]
        if shared.text and base64_key_error(shared.text):
            check_wireguard_key(report, shared)
        check_not_negative(report, peer["persistentKeepaliveInterval"])


def check_not_negative(report: ValidationReport, span: ConfigValue) -> None:
    """A time or a number that cannot be below zero."""
    if span.text.startswith("-") and span.text != "-0":
        report.error(
            "machine.range",
            span,
            f"{span.name} is {span.text}",
            why="it cannot be below zero",
            fix="write it without the minus, or leave it out",
        )


def check_bgp(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    if not document["localASN"].number:
        report.missing(document["localASN"], "a system in BGP has a number")
    router = document["routerID"]
    if router.text and ip_address(router.text.partition("%")[0]).version != 4:
        _report_bgp(
            report, router, "it is written as an IPv4 address", "write one of the machine's"
        )
    neighbors = document["neighbors"]
    if neighbors.is_empty:
        report.warn(
            "machine.incomplete",
            neighbors,
            f"{document.label} has no neighbors",
            why="it speaks to nobody",
            fix="write neighbors, or remove the document",
        )
    _check_neighbors(report, document, neighbors)
    _check_imports(report, document)


def _report_bgp(report: ValidationReport, part: ConfigValue, why: str, fix: str) -> None:
    report.error("machine.bgp", part, f"{part.name} does not fit", why=why, fix=fix)


def _check_neighbors(
    report: ValidationReport, document: ConfigValue, neighbors: ConfigValue
) -> None:
    seen: set[str] = set()
    for neighbor in neighbors.items:
        address, link = neighbor["address"].text, neighbor["link"].text
        if bool(address) == bool(link):
            _report_bgp(
                report, neighbor, "it has an address or a link, and one of the two", "keep one"
            )
        elif (address or link) in seen:
            _report_bgp(report, neighbor, f"{address or link} is there twice", "remove one")
        else:
            seen.add(address or link)
        check_not_negative(report, neighbor["holdTime"])
        detection = neighbor["bfd"]
        if detection.present and document["vrf"].text:
            _report_bgp(report, detection, "BFD does not work inside of a VRF", "remove it")
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
            why = "routes come from other instances, from each once"
            _report_bgp(report, source, why, "name another instance")
        sources.add(source.text)
        if route["prefixes"].is_empty:
            report.missing(route["prefixes"], "only routes to chosen networks are imported")
        for prefix in route["prefixes"].items:
            _check_prefix_filter(report, prefix, prefixes)


def _check_prefix_filter(report: ValidationReport, prefix: ConfigValue, others: list[str]) -> None:
    if not prefix.text:
        _report_bgp(report, prefix, "it is empty", "write a network")
        return
    interface = ip_interface(prefix.text)
    if interface.ip != interface.network.network_address:
        _report_bgp(report, prefix, f"it is an address in {interface.network}", "write the network")
    for other in others:
        network = ip_interface(other).network
        if network.version == interface.version and network.overlaps(interface.network):
            _report_bgp(report, prefix, f"it overlaps {other}", "remove one of the two")
    others.append(prefix.text)
