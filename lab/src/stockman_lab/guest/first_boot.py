"""What a plain Linux takes from its cloud-init drive: its name and how its cards are addressed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_interface

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DHCP4, _DHCP6 = frozenset({"dhcp", "dhcp4"}), frozenset({"dhcp6", "ipv6_dhcpv6-stateful"})


@dataclass(slots=True, kw_only=True)
class Addressing:
    """How one card is addressed."""

    name: str
    mac: str = ""
    """In small letters. Empty: found by its name."""
    addresses: list[str] = field(default_factory=list)
    """With prefix."""
    dhcp4: bool = False
    dhcp6: bool = False
    self_made: bool = True
    """Whether it makes an address of what a router announces, as Linux does unless told not to."""


@dataclass(slots=True, kw_only=True)
class FirstBoot:
    """What the files say."""

    hostname: str = ""
    """Empty: nothing."""
    instance: str = ""
    links: list[Addressing] | None = None
    """None: the network is not spoken of."""


def first_boot(files: Mapping[str, bytes]) -> FirstBoot:
    """What is read of the files of a NoCloud drive; what cannot be read is passed over."""
    user, meta = _mapping(files.get("user-data", b"")), _mapping(files.get("meta-data", b""))
    names = (user.get("fqdn"), user.get("hostname"), meta.get("local-hostname"))
    hostname = next((str(name).partition(".")[0] for name in names if name), "")
    network = _mapping(files.get("network-config", b""))
    inner = network.get("network", network)
    links = None
    if isinstance(inner, Mapping) and inner.get("version") == 1:
        links = list(_first_version(inner.get("config")))
    elif isinstance(inner, Mapping) and inner.get("version") == 2:
        links = list(_second_version(inner.get("ethernets")))
    return FirstBoot(hostname=hostname, instance=str(meta.get("instance-id", "")), links=links)


def _mapping(raw: bytes) -> Mapping[str, object]:
    try:
        data = yaml.load(raw, Loader=_LOADER)  # noqa: S506  # both are safe loaders
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}
    return data if isinstance(data, dict) else {}


def _first_version(config: object) -> Iterator[Addressing]:
    for entry in _mappings(config):
        if entry.get("type") != "physical":
            continue
        link = Addressing(name=str(entry.get("name", "")), mac=_mac(entry.get("mac_address")))
        for subnet in _mappings(entry.get("subnets")):
            kind = str(subnet.get("type", ""))
            link.dhcp4 = link.dhcp4 or kind in _DHCP4
            link.dhcp6 = link.dhcp6 or kind in _DHCP6
            if kind in ("static", "static6"):
                address = str(subnet.get("address", ""))
                mask = subnet.get("netmask")
                link.addresses += _valid(f"{address}/{mask}" if mask else address)
        yield link


def _second_version(ethernets: object) -> Iterator[Addressing]:
    if not isinstance(ethernets, Mapping):
        return
    for key, entry in ethernets.items():
        if not isinstance(entry, Mapping):
            continue
        match = entry.get("match")
        mac = match.get("macaddress") if isinstance(match, Mapping) else None
        given = entry.get("addresses")
        addresses = [str(one) for one in given] if isinstance(given, list) else []
        yield Addressing(
            name=str(entry.get("set-name", key)),
            mac=_mac(mac),
            addresses=[text for address in addresses for text in _valid(address)],
            dhcp4=entry.get("dhcp4") is True,
            dhcp6=entry.get("dhcp6") is True,
            self_made=entry.get("accept-ra") is not False,
        )


def _mappings(items: object) -> list[Mapping[str, object]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _mac(value: object) -> str:
    return str(value).lower() if value else ""


def _valid(address: str) -> list[str]:
    try:
        found = ip_interface(address)
    except ValueError:
        return []
    return [f"{found.ip}/{found.network.prefixlen}"]
