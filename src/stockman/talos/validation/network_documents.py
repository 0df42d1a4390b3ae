"""Rules of documents about names, addresses, time, probes and the firewall."""

from __future__ import annotations

from stockman.talos.patches.scalars import parse_url
from stockman.talos.validation.formats import (
    is_address,
    is_network,
    is_zoned_address,
    split_host_port,
)
from stockman.talos.validation.link_documents import check_name, check_not_negative
from stockman.talos.validation.report import ConfigValue, ValidationReport

_LONGEST_HOSTNAME = 63
_LONGEST_FQDN = 253
_PLAIN_DNS = "Do53"
_RESERVED_PRIORITIES = (0, 32500, 32766, 32767)
_PRIORITIES = 1 << 32


def check_hostname(report: ValidationReport, document: ConfigValue) -> None:
    auto, name = document["auto"], document["hostname"]
    off = not auto.present or auto.text == "off"
    unnamed = off if report.minor < 13 else not auto.present
    why = ""
    if unnamed and not name.text:
        why = "neither auto nor hostname is set"
    elif not off and name.text:
        why = f"auto is {auto.text}, and hostname is {name.text}"
    elif auto.present and auto.text not in ("off", "stable"):
        why = f"auto is {auto.text}; it must be off or stable"
    elif len(name.text.encode()) > _LONGEST_FQDN:
        why = f"a name has at most {_LONGEST_FQDN} characters"
    elif name.text and not 1 <= len(name.text.partition(".")[0].encode()) <= _LONGEST_HOSTNAME:
        why = f"the label before the first dot has 1 to {_LONGEST_HOSTNAME} characters"
    if why:
        report.error(
            "machine.hostname",
            name if name.present else document,
            "HostnameConfig does not define a hostname",
            why=why,
            fix='set `auto: stable`, or `auto: "off"` and the hostname',
        )


def check_dhcp(report: ValidationReport, document: ConfigValue) -> None:
    check_name(report, document)
    duid, identifier = document["duidRaw"], document["clientIdentifier"]
    if bool(duid.text) != (identifier.text == "duid"):
        report.error(
            "machine.dhcp",
            duid if duid.text else identifier,
            f"duidRaw and clientIdentifier of {document.label} do not match",
            why="duidRaw and `clientIdentifier: duid` require each other",
            fix="set both, or neither",
        )


def check_address_document(report: ValidationReport, document: ConfigValue) -> None:
    """Check a document whose name is an address."""
    name = document["name"]
    if not is_zoned_address(name.text):
        report.error(
            "machine.address",
            name,
            f"{name.text!r} is not an address",
            why=f"the name of a {document.label.partition(' ')[0]} must be its address",
            fix="use the address as the name",
        )


def check_shared_address(report: ValidationReport, document: ConfigValue) -> None:
    check_address_document(report, document)
    if not document["link"].text:
        report.missing(document["link"], "a virtual IP belongs to a link")


def check_hcloud_address(report: ValidationReport, document: ConfigValue) -> None:
    check_shared_address(report, document)
    if not document["apiToken"].text:
        report.missing(document["apiToken"], "the address is moved through the provider's API")


def check_static_host(report: ValidationReport, document: ConfigValue) -> None:
    check_address_document(report, document)
    if document["hostnames"].is_empty:
        report.missing(document["hostnames"], "an address without names has no effect")


def check_blackhole(report: ValidationReport, document: ConfigValue) -> None:
    name = document["name"]
    if not is_network(name.text):
        report.error(
            "machine.route",
            name,
            f"{name.text!r} is not a network",
            why="the name of a BlackholeRouteConfig must be its network",
            fix="use a network such as 10.43.0.0/16 as the name",
        )


def check_routing_rule(report: ValidationReport, document: ConfigValue) -> None:
    name = document["name"]
    digits = name.text.isdecimal() and name.text.isascii()
    priority = int(name.text) if digits else 0
    if priority in _RESERVED_PRIORITIES or priority >= _PRIORITIES:
        report.error(
            "machine.route",
            name,
            f"{name.text!r} is not a priority of a routing rule",
            why=f"it is a number, and {', '.join(map(str, _RESERVED_PRIORITIES))} are reserved",
            fix="use a number from 1 to 32765 as the name",
        )
    if document["table"].text in ("", "unspec") and document["action"].text in (
        "",
        "unspec",
        "unicast",
    ):
        report.missing(document["table"], "a rule that does not refuse needs a table")
    if document["fwMask"].number and not document["fwMark"].number:
        report.missing(document["fwMask"], "fwMask defines which bits of fwMark count")


def check_resolver(report: ValidationReport, document: ConfigValue) -> None:
    """Check a ResolverConfig, since 1.14."""
    if report.minor < 14:
        return
    dns = document["hostDNS"]
    for key in ("forwardKubeDNSToHost", "resolveMemberNames"):
        if dns[key].flag and not dns["enabled"].flag:
            report.error(
                "machine.dns",
                dns[key],
                f"{dns[key].name} needs a disabled resolver",
                why="hostDNS.enabled is not true",
                fix="set `enabled: true` as well",
            )
    servers = document["nameservers"].items
    for server in servers:
        name, protocol = server["tlsServerName"], server["protocol"].text or _PLAIN_DNS
        if not server["address"].text:
            report.missing(server["address"], "a resolver needs an address")
        if bool(name.text) != (protocol != _PLAIN_DNS):
            report.error(
                "machine.dns",
                name,
                f"tlsServerName and protocol of {server.name} do not match",
                why=f"the protocol is {protocol}; only encrypted protocols need the name",
                fix="use the name in the resolver's certificate, or remove it",
            )
    if servers and all(is_encrypted(server) for server in servers):
        report.warn(
            "machine.doubtful",
            document["nameservers"],
            "every resolver uses TLS",
            why="TLS needs a correct clock, and time synchronization may need a resolver first",
            fix="keep one plain resolver, or use addresses of time servers",
        )


def is_encrypted(server: ConfigValue) -> bool:
    return (server["protocol"].text or _PLAIN_DNS) != _PLAIN_DNS


def check_time(report: ValidationReport, document: ConfigValue) -> None:
    check_not_negative(report, document["bootTimeout"])
    ntp, ptp = document["ntp"], document["ptp"]
    if ntp.present and ptp.present:
        report.error(
            "machine.time",
            ptp,
            "TimeSyncConfig has both time servers and time devices",
            why="ntp and ptp exclude each other",
            fix="keep one of the two",
        )
    if not ntp["useNTS"].flag:
        return
    for server in ntp["servers"].items:
        if is_address(server.text):
            report.error(
                "machine.time",
                server,
                f"{server.text} is an address, but NTS is enabled",
                why="NTS checks the name of a server in its certificate",
                fix="use the name of the server",
            )


def check_tcp_probe(report: ValidationReport, probe: ConfigValue) -> None:
    _check_probe(report, probe)
    if not probe["endpoint"].text:
        report.missing(probe["endpoint"], "a probe connects to a host and a port")


def check_http_probe(report: ValidationReport, probe: ConfigValue) -> None:
    _check_probe(report, probe)
    target = probe["url"]
    if not target.present:
        report.missing(target, "a probe needs a URL")
        return
    url = parse_url(target.text)
    if url.scheme not in ("http", "https") or url.opaque or not split_host_port(url.host)[0]:
        report.error(
            "machine.url",
            target,
            f"{target.name} is not a valid probe URL",
            why="its scheme is neither http nor https, or its host is missing",
            fix="use a URL such as https://example.com/",
        )


def _check_probe(report: ValidationReport, probe: ConfigValue) -> None:
    check_name(report, probe)
    for key in ("interval", "failureThreshold", "timeout"):
        check_not_negative(report, probe[key])


def check_firewall_rule(report: ValidationReport, rule: ConfigValue) -> None:
    check_name(report, rule)
    ports = rule.down("portSelector.ports")
    if ports.is_empty:
        report.missing(ports, "a firewall rule needs ports")
    _check_ports(report, ports)
    for ingress in rule["ingress"].items:
        if not ingress["subnet"].text:
            report.missing(ingress["subnet"], "a firewall rule needs the allowed subnets")


def _check_ports(report: ValidationReport, ports: ConfigValue) -> None:
    spans = sorted(
        ((_port_range(port.text), port) for port in ports.items), key=lambda pair: pair[0]
    )
    before = -1
    for (low, high), port in spans:
        if low > high or low <= before:
            report.error(
                "machine.ports",
                port,
                f"the port range {port.text} is invalid",
                why="the first is higher than the last"
                if low > high
                else "it overlaps another range",
                fix="use ranges from low to high, each port once",
            )
        before = high


def _port_range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)
