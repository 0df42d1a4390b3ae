"""Formats of addresses, networks, interfaces and mail."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address

from stockman_lab.pve.schema.named.checker import Checker, like
from stockman_lab.pve.schema.named.names import LABEL
from stockman_lab.pve.schema.perl import integer

_OCTET = r"(?:25[0-5]|(?:2[0-4]|1[0-9]|[1-9])?[0-9])"
_IPV4 = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}$")
_DNS_NAME = re.compile(rf"({LABEL}\.)*{LABEL}$")
_IFACE = re.compile(r"[a-z][a-z0-9_]{1,20}([:\.]\d+)?$", re.IGNORECASE)
_VLANS = re.compile(r"(\d+)(?:-(\d+))?$")
_LINK_LOCAL = re.compile(r"(fe80:[^%]+)%(.*)$")
_HOST = re.compile(r"(?:[^\W_]|[\-.])+$")
_USER = r"[\w\+\-\~]+(\.[\w\+\-\~]+)*"
_MAIL = rf"{_USER}@[a-zA-Z0-9\-]+(\.[a-zA-Z0-9\-]+)*"
_MASKS = frozenset(
    ".".join(
        str((0xFFFFFFFF << (32 - bits) & 0xFFFFFFFF) >> shift & 0xFF) for shift in (24, 16, 8, 0)
    )
    for bits in range(33)
)


def is_ipv4(text: str) -> bool:
    """Whether a text is four numbers with dots, none with a leading zero."""
    return _IPV4.match(text) is not None


def is_ipv6(text: str) -> bool:
    """Whether a text is an IPv6 address without a zone."""
    if "%" in text:
        return False
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def is_ip(text: str) -> bool:
    """Whether a text is an address of either family."""
    return is_ipv4(text) or is_ipv6(text)


def is_cidr4(text: str) -> bool:
    """Whether a text is an IPv4 address with a prefix of 8 to 32."""
    address, _, prefix = text.partition("/")
    return is_ipv4(address) and prefix.isdecimal() and 7 < int(prefix[:9]) <= 32


def is_cidr6(text: str) -> bool:
    """Whether a text is an IPv6 address with a prefix of 8 to 128."""
    address, _, prefix = text.partition("/")
    return is_ipv6(address) and prefix.isdecimal() and 7 < int(prefix[:9]) <= 128


def is_dns_name(text: str) -> bool:
    """Whether a text is made of labels with dots between them."""
    return _DNS_NAME.match(text) is not None


def vlan_or_range(text: str) -> str | None:
    """`5` or `10-20`, within 2 and 4094."""
    match = _VLANS.match(text)
    if match is None:
        return f"invalid VLAN configuration '{text}'"
    tags = [tag for tag in match.groups() if tag and integer(tag)]
    if tags[:1] != [match[1]]:
        return f"invalid VLAN tag '{match[1]}'"
    for tag in tags:
        if not 2 <= integer(tag) <= 4094:
            return f"invalid VLAN tag '{tag}'"
    if len(tags) == 2 and integer(tags[0]) >= integer(tags[1]):
        return f"VLAN range must go from lower to higher tag '{text}'"
    return None


def ip_with_zone(text: str) -> str | None:
    """An address; a link-local one may name its interface."""
    match = _LINK_LOCAL.match(text)
    if match and is_ip(match[1]) and _IFACE.match(match[2]):
        return None
    return None if is_ip(text) else "value does not look like a valid IP address"


def host_and_port(text: str) -> str | None:
    """A name or address, perhaps with a port."""
    if is_ipv6(text) or _bracketed(text):
        return None
    host, colon, port = text.partition(":")
    if (not colon or port.isdecimal()) and _HOST.match(host):
        return None
    address, _, port = text.rpartition(".")
    if is_ipv6(address) and port.isdecimal():
        return None
    return "value does not look like a valid portal address"


def _bracketed(text: str) -> bool:
    inside, bracket, port = text.removeprefix("[").partition("]")
    if not text.startswith("[") or not bracket:
        return False
    if port and not port.removeprefix(":").isdecimal():
        return False
    return is_ip(inside) or _HOST.match(inside) is not None


def _is_host(text: str) -> bool:
    # The name `0` is refused, because Perl takes it for false.
    return text != "0" and (is_ip(text) or is_dns_name(text))


def _when(holds: bool, problem: str) -> str | None:
    return None if holds else problem


def checkers() -> dict[str, Checker]:
    """The checkers of addresses and interfaces, by format."""
    says = "value does not look like a valid "
    return {
        "ipv4": lambda text: _when(is_ipv4(text), f"{says}IPv4 address"),
        "ipv6": lambda text: _when(is_ipv6(text), f"{says}IPv6 address"),
        "ip": lambda text: _when(is_ip(text), f"{says}IP address"),
        "ipv4mask": lambda text: _when(text in _MASKS, f"{says}IP netmask"),
        "CIDRv4": lambda text: _when(is_cidr4(text), f"{says}IPv4 CIDR network"),
        "CIDRv6": lambda text: _when(is_cidr6(text), f"{says}IPv6 CIDR network"),
        "CIDR": lambda text: _when(is_cidr4(text) or is_cidr6(text), f"{says}CIDR network"),
        "pve-ipv4-config": lambda text: _when(
            text in {"dhcp", "manual"} or is_cidr4(text), f"{says}ipv4 network configuration"
        ),
        "pve-ipv6-config": lambda text: _when(
            text in {"auto", "dhcp", "manual"} or is_cidr6(text),
            f"{says}ipv6 network configuration",
        ),
        "dns-name": lambda text: _when(is_dns_name(text), f"{says}DNS name"),
        "address": lambda text: _when(_is_host(text), f"{says}address: {text}"),
        "pve-storage-server": lambda text: _when(
            _is_host(text), f"{says}server name or IP address"
        ),
        "pve-storage-portal-dns": host_and_port,
        "lxc-ip-with-ll-iface": ip_with_zone,
        "mac-addr": like(
            r"[a-f0-9][02468ace](?::[a-f0-9]{2}){5}$",
            f"{says}unicast MAC address",
            ignore_case=True,
        ),
        "mac-prefix": like(
            r"[a-f0-9][02468ace](?::[a-f0-9]{2}){0,2}(?::[a-f0-9]?)?$",
            "value is not a valid unicast MAC address prefix",
            ignore_case=True,
        ),
        "pve-iface": like(_IFACE.pattern, "invalid network interface name '{}'", ignore_case=True),
        "pve-vlan-id-or-range": vlan_or_range,
        "email": like(f"{_MAIL}$", f"{says}email address"),
        "email-or-username": like(f"(?:{_MAIL}|{_USER})$", f"{says}email address or user name"),
        "ldap-simple-attr": like(
            r"[a-zA-Z0-9]+$", "value '{}' does not look like a simple ldap attribute name"
        ),
    }
