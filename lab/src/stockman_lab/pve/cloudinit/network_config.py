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


def split_ip4(text: str) -> tuple[str, str]:
    """An address, and its mask with dots."""
    address, slash, prefix = text.partition("/")
    if not slash:
        raise CloudInitError(f"not a CIDR: {text}")
    return address, str(IPv4Network(f"0.0.0.0/{prefix}").netmask)
