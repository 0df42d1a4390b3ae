"""The network of a VM in the words of each kind of drive."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from stockman_lab.pve.cloudinit.settings import Card, CloudInitError, Settings


def network_version_1(settings: Settings) -> str:
    """`network-config` of a NoCloud drive."""
    lines = ["version: 1", "config:"]
    for card in settings.cards():
        if not card.mac:
            raise CloudInitError(f"network interface 'net{card.number}' has no mac address")
        lines += [
            "    - type: physical",
            f"      name: eth{card.number}",
            f"      mac_address: '{card.mac.lower()}'",
            "      subnets:",
            *_subnets(card),
        ]
    lines.append("    - type: nameserver")
    lines += _listed("      address:", settings.nameservers)
    lines += _listed("      search:", settings.search_domains)
    return "\n".join(lines) + "\n"


def _subnets(card: Card) -> Iterator[str]:
    if card.ip == "dhcp":
        yield "      - type: dhcp4"
    elif card.ip:
        address, mask = split_ip4(card.ip)
        yield "      - type: static"
        yield f"        address: '{address}'"
        yield f"        netmask: '{mask}'"
        if card.gw:
            yield f"        gateway: '{card.gw}'"
    if card.ip6 == "dhcp":
        yield "      - type: dhcp6"
    elif card.ip6 == "auto":
        yield "      - type: ipv6_slaac"
    elif card.ip6:
        yield "      - type: static6"
        yield f"        address: '{card.ip6}'"
        if card.gw6:
            yield f"        gateway: '{card.gw6}'"


def _listed(head: str, values: list[str]) -> list[str]:
    return [head, *(f"      - '{value}'" for value in values)] if values else []


def interfaces_file(settings: Settings) -> str:
    """`/content/0000` of a configuration drive: the interfaces file of Debian."""
    text = "auto lo\niface lo inet loopback\n\n"
    if settings.nameservers:
        text += f"        dns_nameservers {' '.join(settings.nameservers)}\n"
    if settings.search_domains:
        text += f"        dns_search {' '.join(settings.search_domains)}\n"
    return text + "".join(_stanzas(settings, ""))


def windows_interfaces_file(settings: Settings) -> str:
    """The same for cloudbase-init: resolvers stand on each interface."""
    return "".join(_stanzas(settings, " ".join(settings.nameservers)))


def _stanzas(settings: Settings, resolvers: str) -> Iterator[str]:
    named = f"        dns-nameservers {resolvers}\n" if resolvers else ""
    for card in settings.cards():
        name = f"eth{card.number}"
        yield f"auto {name}\n"
        if card.ip == "dhcp":
            yield f"iface {name} inet dhcp\n"
        elif card.ip:
            yield f"iface {name} inet static\n"
            yield _static(*split_ip4(card.ip), card.gw) + named
        if card.ip6 in ("auto", "dhcp"):
            yield f"iface {name} inet6 {card.ip6}\n"
        elif card.ip6:
            address, _, prefix = card.ip6.partition("/")
            yield f"iface {name} inet6 static\n"
            yield _static(address, prefix, card.gw6) + named


def _static(address: str, mask: str, gateway: str) -> str:
    route = f"        gateway {gateway}\n" if gateway else ""
    return f"        address {address}\n        netmask {mask}\n{route}"


def split_ip4(text: str) -> tuple[str, str]:
    """An address, and its mask with dots."""
    address, slash, prefix = text.partition("/")
    if not slash:
        raise CloudInitError(f"not a CIDR: {text}")
    return address, str(IPv4Network(f"0.0.0.0/{prefix}").netmask)
