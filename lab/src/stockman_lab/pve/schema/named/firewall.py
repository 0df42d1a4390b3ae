"""Formats of firewall rules."""

from __future__ import annotations

import re
from ipaddress import ip_address

from stockman_lab.pve.schema.named.checker import Checker
from stockman_lab.pve.schema.named.network import is_ipv4, is_ipv6
from stockman_lab.pve.schema.named.well_known import (
    HELPERS,
    ICMP_TYPES,
    PROTOCOL_NUMBERS,
    PROTOCOLS,
    SERVICES,
)

_ALIAS = re.compile(r"(dc/|guest/)?[A-Za-z][A-Za-z0-9\-_]+$")
_SET = re.compile(r"\+\S+$")
_PORTS = re.compile(r"([0-9]+):([0-9]+)$")
_PORT = re.compile(r"[0-9]+$")
_SHORT_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,3}$")
_EXTRA_COMMAS = "extraneous commas in list"


def address_spec(text: str) -> str | None:
    """A set, an alias, a range, or addresses and networks of one family."""
    if _SET.match(text):
        return "ipset name too long" if len(text) > 65 else None
    if _ALIAS.match(text):
        return "alias name too long" if len(text) > 64 else None
    if text.endswith(","):
        return _EXTRA_COMMAS
    families = set()
    items = text.split(",") if text else []
    for item in items:
        ends = [end.strip() for end in item.split("-", 1)]
        for end in ends:
            if (problem := _network_problem(end)) is not None:
                return f"invalid IP address: {problem}"
        families.add(":" in item)
        if len(families) > 1:
            return f"detected mixed ipv4/ipv6 addresses in address list '{text}'"
    if len(items) > 1 and "-" in text:
        return "you can't use a range in a list"
    return None


def address_or_network(text: str) -> str | None:
    """One address, or one network of which the bits behind the prefix do not matter."""
    address, slash, prefix = text.partition("/")
    width = 32 if is_ipv4(address) else 128 if is_ipv6(address) else 0
    if not width or (slash and not prefix.isdecimal()):
        return "value does not look like a valid IP address or CIDR network"
    return _prefix_problem(prefix, width) if slash else None


def address_or_alias(text: str) -> str | None:
    """One address or network, or the name of an alias."""
    return None if _ALIAS.match(text) else address_or_network(text)


def ports(text: str, *, icmp: bool) -> str | None:
    """Ports, ranges and names of services; a destination may name types of ICMP instead."""
    if text.endswith(","):
        return _EXTRA_COMMAS
    count, has_icmp = 0, False
    for item in text.split(",") if text else ():
        if match := _PORTS.match(item):
            count += 2
            if (problem := _range_problem(match[1], match[2])) is not None:
                return problem
        elif _PORT.match(item):
            count += 1
            if _port(item) > 65535:
                return f"invalid port '{item}'"
        elif icmp and item in ICMP_TYPES:
            has_icmp = True
        elif item not in SERVICES:
            return f"invalid port '{item}'"
    if has_icmp and count:
        return "ICMP ports not allowed in port range"
    return "too many entries in port list (> 15 numbers)" if count > 15 else None


def protocol(text: str) -> str | None:
    """The name or number of a protocol."""
    if text in {"", "0"} or text in PROTOCOLS or text in PROTOCOL_NUMBERS:
        return None
    return f"unknown protocol '{text}'"


def icmp_type(text: str) -> str | None:
    """The name of a type of ICMP."""
    return None if not text or text in ICMP_TYPES else f"invalid icmp-type value '{text}'"


def helpers(text: str) -> str | None:
    """Helpers of connection tracking."""
    if text.endswith(","):
        return _EXTRA_COMMAS
    wrong = next((name for name in text.split(",") if text and name not in HELPERS), None)
    return None if wrong is None else f"unknown helper {wrong}"


def _network_problem(text: str) -> str | None:
    address, slash, prefix = text.partition("/")
    if is_ipv6(address):
        width = 128
    elif _SHORT_IPV4.match(address) and all(int(part) < 256 for part in address.split(".")):
        width = 32
    else:
        return f"Cannot determine IP version for {text}"
    if not slash:
        return None
    if not prefix.isdecimal():
        return f"Invalid prefix {text}"
    return _prefix_problem(prefix, width) or _host_bits_problem(address, int(prefix[:9]), width)


def _host_bits_problem(address: str, prefix: int, width: int) -> str | None:
    whole = address if width == 128 else ".".join((address.split(".") + ["0"] * 3)[:4])
    bits = f"{int(ip_address(_plain(whole))):0{width}b}"
    return f"Invalid prefix {bits}/{prefix}" if "1" in bits[prefix:] else None


def _plain(address: str) -> str:
    """The address without leading zeros in its decimal parts."""
    return (
        ".".join(str(int(part)) for part in address.split(".")) if ":" not in address else address
    )


def _prefix_problem(prefix: str, width: int) -> str | None:
    if int(prefix[:9]) > width:
        return f"Prefix length {prefix} is longer than IP address ({width})"
    return None


def _range_problem(first: str, last: str) -> str | None:
    for port in (first, last):
        if _port(port) > 65535:
            return f"invalid port '{port}'"
    if _port(first) > _port(last):
        return f"backwards range '{first}:{last}' not allowed, did you mean '{last}:{first}'?"
    return None


def _port(text: str) -> int:
    return int(text.lstrip("0")[:9] or "0")


def checkers() -> dict[str, Checker]:
    """The checkers of firewall rules, by format."""
    return {
        "IPorCIDR": address_or_network,
        "IPorCIDRorAlias": address_or_alias,
        "pve-fw-addr-spec": address_spec,
        "pve-fw-sport-spec": lambda text: ports(text, icmp=False),
        "pve-fw-dport-spec": lambda text: ports(text, icmp=True),
        "pve-fw-protocol-spec": protocol,
        "pve-fw-icmp-type-spec": icmp_type,
        "pve-fw-conntrack-helper": helpers,
    }
