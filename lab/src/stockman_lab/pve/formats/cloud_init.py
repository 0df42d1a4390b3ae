"""What cloud-init is told: addresses, files of the user's own, SSH keys."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from stockman_lab.pve.formats.checks import ipv4, ipv4_config, ipv6, ipv6_config, volume_id
from stockman_lab.pve.formats.property_string import Format, Property, parse

IP_CONFIG: Format = {
    "ip": Property(check=ipv4_config),
    "gw": Property(check=ipv4, requires="ip"),
    "ip6": Property(check=ipv6_config),
    "gw6": Property(check=ipv6, requires="ip6"),
}
CUSTOM: Format = {name: Property(check=volume_id) for name in ("meta", "network", "user", "vendor")}

_LITERAL_IN_KEYS = "-_.!~*'()"


@dataclass(frozen=True, slots=True)
class IpConfig:
    """How one card gets its addresses."""

    ip: str
    """`dhcp`, an address with its prefix, or nothing."""
    gateway: str
    ip6: str
    """`dhcp`, `auto`, an address with its prefix, or nothing."""
    gateway6: str


def parse_ip_config(text: str) -> IpConfig | None:
    """One `ipconfigN`, None where a gateway makes no sense; raises `FormatError`."""
    found = parse(IP_CONFIG, text)
    read = IpConfig(
        ip=found.get("ip", ""),
        gateway=found.get("gw", ""),
        ip6=found.get("ip6", ""),
        gateway6=found.get("gw6", ""),
    )
    if read.gateway and read.ip == "dhcp":
        return None
    if read.gateway6 and ":" not in read.ip6:
        return None
    if not read.ip and not read.ip6:
        return IpConfig(ip="dhcp", gateway="", ip6="dhcp", gateway6="")
    return read


def parse_custom(text: str) -> dict[str, str]:
    """Volumes of `cicustom` by what they replace; raises `FormatError`."""
    return parse(CUSTOM, text)


def encode_keys(keys: str) -> str:
    """SSH keys as the API wants them: every byte that is unusual in a URL is `%XX`."""
    return quote(keys, safe=_LITERAL_IN_KEYS)


def decode_keys(text: str) -> list[str]:
    """SSH keys of a configuration, one a line."""
    return [line for line in unquote(text).split("\n") if line.strip()]
