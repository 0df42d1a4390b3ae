"""Rules of BGPInstanceConfig."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface

from stockman.talos.validation.link_documents import check_named, check_not_negative
from stockman.talos.validation.part import Part
from stockman.talos.validation.report import Report


def check_bgp(report: Report, document: Part) -> None:
    check_named(report, document)
    if not document["localASN"].number:
        report.missing(document["localASN"], "a system in BGP has a number")
    router = document["routerID"]
    if router.text and ip_address(router.text.partition("%")[0]).version != 4:
        _bad(report, router, "it is written as an IPv4 address", "write one of the machine's")
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


def _bad(report: Report, part: Part, why: str, fix: str) -> None:
    report.error("machine.bgp", part, f"{part.name} does not fit", why=why, fix=fix)


def _check_neighbors(report: Report, document: Part, neighbors: Part) -> None:
    seen: set[str] = set()
    for neighbor in neighbors.items:
        address, link = neighbor["address"].text, neighbor["link"].text
        if bool(address) == bool(link):
            _bad(report, neighbor, "it has an address or a link, and one of the two", "keep one")
        elif (address or link) in seen:
            _bad(report, neighbor, f"{address or link} is there twice", "remove one")
        else:
            seen.add(address or link)
        check_not_negative(report, neighbor["holdTime"])
        detection = neighbor["bfd"]
        if detection.present and document["vrf"].text:
            _bad(report, detection, "BFD does not work inside of a VRF", "remove it")
        for key in ("transmitInterval", "receiveInterval"):
            check_not_negative(report, detection[key])


def _check_imports(report: Report, document: Part) -> None:
    sources: set[str] = set()
    prefixes: list[str] = []
    for route in document["importRoutes"].items:
        source = route["bgpInstance"]
        if not source.text:
            report.missing(source, "routes are imported from another instance")
        elif source.text == document["name"].text or source.text in sources:
            why = "routes come from other instances, from each once"
            _bad(report, source, why, "name another instance")
        sources.add(source.text)
        if route["prefixes"].is_empty:
            report.missing(route["prefixes"], "only routes to chosen networks are imported")
        for prefix in route["prefixes"].items:
            _check_prefix(report, prefix, prefixes)


def _check_prefix(report: Report, prefix: Part, others: list[str]) -> None:
    if not prefix.text:
        _bad(report, prefix, "it is empty", "write a network")
        return
    interface = ip_interface(prefix.text)
    if interface.ip != interface.network.network_address:
        _bad(report, prefix, f"it is an address in {interface.network}", "write the network")
    for other in others:
        network = ip_interface(other).network
        if network.version == interface.version and network.overlaps(interface.network):
            _bad(report, prefix, f"it overlaps {other}", "remove one of the two")
    others.append(prefix.text)
