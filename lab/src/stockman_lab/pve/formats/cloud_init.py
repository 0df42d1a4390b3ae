"""What cloud-init is told: addresses, files of the user's own, SSH keys."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from stockman_lab.pve.formats.checks import ipv4, ipv4_config, ipv6, ipv6_config, volume_id
from stockman_lab.pve.formats.property_string import Format, Property

IP_CONFIG: Format = {
    "ip": Property(check=ipv4_config),
    "gw": Property(check=ipv4, requires="ip"),
    "ip6": Property(check=ipv6_config),
    "gw6": Property(check=ipv6, requires="ip6"),
}
CUSTOM: Format = {name: Property(check=volume_id) for name in ("meta", "network", "user", "vendor")}


@dataclass(frozen=True, slots=True)
class IpConfig:
    """How one card gets its addresses."""

    ip: str
    """`dhcp`, an address with its prefix, or nothing."""
    gateway: str
    ip6: str
    """`dhcp`, `auto`, an address with its prefix, or nothing."""
    gateway6: str


def decode_keys(text: str) -> list[str]:
    """SSH keys of a configuration, one a line."""
    return [line for line in unquote(text).split("\n") if line.strip()]
