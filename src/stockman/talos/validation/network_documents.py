"""Rules of documents about names, addresses, time, probes and the firewall."""

from __future__ import annotations

from stockman.talos.validation.formats import is_address, is_network, is_zoned_address
from stockman.talos.validation.report import ConfigValue, Rule, check_name, not_negative, required
from stockman.talos.validation.shared_rules import (
    UrlForm,
    check_kubespan_mtu,
    check_node_subnets,
    valid_url,
)

_LONGEST_HOSTNAME = 63
_LONGEST_FQDN = 253
_PLAIN_DNS = "Do53"
_RESERVED_PRIORITIES = (0, 32500, 32766, 32767)
_PRIORITIES = 1 << 32
_PROBE_URL = UrlForm("probe URL", ("http", "https"), "https://example.com/", needs_host=True)


def _check_hostname(document: ConfigValue) -> None:
    auto, name = document["auto"], document["hostname"]
    off = not auto.present or auto.text == "off"
    unnamed = off if document.minor < 13 else not auto.present
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
        (name if name.present else document).error(
            "machine.hostname",
            "HostnameConfig does not define a hostname",
            why=why,
            fix='set `auto: stable`, or `auto: "off"` and the hostname',
        )


def _check_dhcp(document: ConfigValue) -> None:
    duid, identifier = document["duidRaw"], document["clientIdentifier"]
    if bool(duid.text) != (identifier.text == "duid"):
        (duid if duid.text else identifier).error(
            "machine.dhcp",
            f"duidRaw and clientIdentifier of {document.label} do not match",
            why="duidRaw and `clientIdentifier: duid` require each other",
            fix="set both, or neither",
        )


def _check_address_name(document: ConfigValue) -> None:
    name = document["name"]
    if not is_zoned_address(name.text):
        name.error(
            "machine.address",
            f"{name.text!r} is not an address",
            why=f"the name of a {document.kind} must be its address",
            fix="use the address as the name",
        )


def _check_blackhole(document: ConfigValue) -> None:
    name = document["name"]
    if not is_network(name.text):
        name.error(
            "machine.route",
            f"{name.text!r} is not a network",
            why="the name of a BlackholeRouteConfig must be its network",
            fix="use a network such as 10.43.0.0/16 as the name",
        )


def _check_routing_rule(document: ConfigValue) -> None:
    name, table, action = document["name"], document["table"], document["action"]
    digits = name.text.isdecimal() and name.text.isascii()
    priority = int(name.text) if digits else 0
    if priority in _RESERVED_PRIORITIES or priority >= _PRIORITIES:
        name.error(
            "machine.route",
            f"{name.text!r} is not a priority of a routing rule",
            why=f"it is a number, and {', '.join(map(str, _RESERVED_PRIORITIES))} are reserved",
            fix="use a number from 1 to 32765 as the name",
        )
    if table.text in ("", "unspec") and action.text in ("", "unspec", "unicast"):
        table.missing("a rule that does not refuse needs a table")
    if document["fwMask"].number and not document["fwMark"].number:
        document["fwMask"].missing("fwMask defines which bits of fwMark count")


def _check_resolver(document: ConfigValue) -> None:
    """Check a ResolverConfig, since 1.14."""
    if document.minor < 14:
        return
    dns = document["hostDNS"]
    for key in ("forwardKubeDNSToHost", "resolveMemberNames"):
        if dns[key].flag and not dns["enabled"].flag:
            dns[key].error(
                "machine.dns",
                f"{dns[key].name} needs a disabled resolver",
                why="hostDNS.enabled is not true",
                fix="set `enabled: true` as well",
            )
    servers = document["nameservers"].items
    for server in servers:
        name, protocol = server["tlsServerName"], server["protocol"].text or _PLAIN_DNS
        server["address"].require("a resolver needs an address")
        if bool(name.text) != (protocol != _PLAIN_DNS):
            name.error(
                "machine.dns",
                f"tlsServerName and protocol of {server.name} do not match",
                why=f"the protocol is {protocol}; only encrypted protocols need the name",
                fix="use the name in the resolver's certificate, or remove it",
            )
    if servers and all(is_encrypted(server) for server in servers):
        document["nameservers"].warn(
            "machine.doubtful",
            "every resolver uses TLS",
            why="TLS needs a correct clock, and time synchronization may need a resolver first",
            fix="keep one plain resolver, or use addresses of time servers",
        )


def is_encrypted(server: ConfigValue) -> bool:
    return (server["protocol"].text or _PLAIN_DNS) != _PLAIN_DNS


def _check_time(document: ConfigValue) -> None:
    ntp, ptp = document["ntp"], document["ptp"]
    if ntp.present and ptp.present:
        ptp.error(
            "machine.time",
            "TimeSyncConfig has both time servers and time devices",
            why="ntp and ptp exclude each other",
            fix="keep one of the two",
        )
    for server in ntp["servers"].items if ntp["useNTS"].flag else ():
        if is_address(server.text):
            server.error(
                "machine.time",
                f"{server.text} is an address, but NTS is enabled",
                why="NTS checks the name of a server in its certificate",
                fix="use the name of the server",
            )


def _check_firewall_rule(rule: ConfigValue) -> None:
    ports = rule.down("portSelector.ports")
    ports.require("a firewall rule needs ports")
    spans = sorted((*_port_range(port.text), index) for index, port in enumerate(ports.items))
    before = -1
    for low, high, index in spans:
        if low > high or low <= before:
            port = ports.items[index]
            descends = "the first is higher than the last"
            port.error(
                "machine.ports",
                f"the port range {port.text} is invalid",
                why=descends if low > high else "it overlaps another range",
                fix="use ranges from low to high, each port once",
            )
        before = high
    for ingress in rule["ingress"].items:
        ingress["subnet"].require("a firewall rule needs the allowed subnets")


def _port_range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)


def _check_kubespan(span: ConfigValue) -> None:
    check_kubespan_mtu(span["mtu"])
    check_node_subnets(span.down("filters.endpoints"))


_VIP_RULES: tuple[Rule, ...] = (
    _check_address_name,
    required("link", "a virtual IP belongs to a link"),
)
_PROBE_RULES: tuple[Rule, ...] = (
    check_name,
    not_negative("interval", "failureThreshold", "timeout"),
)
RULES: dict[str, tuple[Rule, ...]] = {
    "BlackholeRouteConfig": (_check_blackhole,),
    "DHCPv4Config": (check_name, _check_dhcp),
    "DHCPv6Config": (check_name, _check_dhcp),
    "HCloudVIPConfig": (
        *_VIP_RULES,
        required("apiToken", "the address is moved through the provider's API"),
    ),
    "HTTPProbeConfig": (*_PROBE_RULES, valid_url("url", "a probe needs a URL", _PROBE_URL)),
    "HostnameConfig": (_check_hostname,),
    "KubeSpanConfig": (_check_kubespan,),
    "Layer2VIPConfig": _VIP_RULES,
    "NetworkRuleConfig": (check_name, _check_firewall_rule),
    "ResolverConfig": (_check_resolver,),
    "RoutingRuleConfig": (_check_routing_rule,),
    "StaticHostConfig": (
        _check_address_name,
        required("hostnames", "an address without names has no effect"),
    ),
    "TCPProbeConfig": (
        *_PROBE_RULES,
        required("endpoint", "a probe connects to a host and a port"),
    ),
    "TimeSyncConfig": (not_negative("bootTimeout"), _check_time),
}
