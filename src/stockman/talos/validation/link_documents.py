"""Rules of documents about links: cards, bonds, bridges, VLANs and the like."""

from __future__ import annotations

from stockman.talos.validation.expressions.environments import LINK
from stockman.talos.validation.expressions.verdict import check_expression
from stockman.talos.validation.forms import why_no_key
from stockman.talos.validation.interfaces import check_wireguard_key
from stockman.talos.validation.part import Part
from stockman.talos.validation.places import is_unspecified
from stockman.talos.validation.report import Report

_HIGHEST_VLAN = 4094
_HIGHEST_PORT = 65535
_LONGEST_LINK = 15
_RESERVED_TABLES = ("", "unspec", "local", "main", "default")


def check_named(report: Report, document: Part) -> None:
    """A document that needs a name."""
    if not document["name"].text:
        kind = document.label.partition(" ")[0]
        report.missing(document["name"], f"a {kind} says by its name what it is about")


def check_link(report: Report, link: Part) -> None:
    """A link with addresses and routes."""
    check_named(report, link)
    check_common(report, link)


def check_common(report: Report, link: Part) -> None:
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


def check_bond_document(report: Report, bond: Part) -> None:
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


def check_vlan(report: Report, vlan: Part) -> None:
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


def check_vrf(report: Report, vrf: Part) -> None:
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


def check_veth(report: Report, veth: Part) -> None:
    peer = veth["peer"]
    for part in (veth["name"], peer["name"]):
        wrong = _why_no_link_name(part.text)
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
    check_common(report, veth)
    check_common(report, peer)


def _why_no_link_name(text: str) -> str:
    if not text:
        return "it is missing"
    if len(text.encode()) > _LONGEST_LINK:
        return f"names of links have {_LONGEST_LINK} characters at most"
    if text in (".", "..") or any(mark in text for mark in "/:"):
        return "it may hold no / and no :"
    if not text.isprintable() or any(letter.isspace() for letter in text):
        return "it may hold no spaces"
    return ""


def check_link_alias(report: Report, alias: Part) -> None:
    name = alias["name"]
    if not name.text:
        check_named(report, alias)
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


def check_wireguard(report: Report, tunnel: Part) -> None:
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
        if shared.text and why_no_key(shared.text):
            check_wireguard_key(report, shared)
        check_not_negative(report, peer["persistentKeepaliveInterval"])


def check_not_negative(report: Report, span: Part) -> None:
    """A time or a number that cannot be below zero."""
    if span.text.startswith("-") and span.text != "-0":
        report.error(
            "machine.range",
            span,
            f"{span.name} is {span.text}",
            why="it cannot be below zero",
            fix="write it without the minus, or leave it out",
        )
