"""Keys of a VM that cloud-init is made of, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

_NET = re.compile(r"net(\d+)")
_MAC = re.compile(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}")
_DHCP, _AUTO = "dhcp", "auto"


class CloudInitError(Exception):
    """Why there are no texts; what it says is what Proxmox VE says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """`/etc/resolv.conf` of the host: what is said where the VM says nothing."""

    servers: tuple[str, ...] = ()
    search: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A card of a VM that cloud-init speaks of."""

    number: str
    mac: str
    """As it is written. Empty: it has none."""
    mtu: str = ""
    ip: str = ""
    gw: str = ""
    ip6: str = ""
    gw6: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One VM."""

    vmid: int
    values: Mapping[str, str]
    """Its configuration."""
    resolver: Resolver = field(default_factory=Resolver)

    def get(self, key: str) -> str | None:
        value = self.values.get(key)
        return None if value is None else str(value)

    def require_nocloud(self) -> None:
        """Refuse other kinds of drives: the simulator only writes NoCloud."""
        is_windows = self.values.get("ostype", "").startswith("w")
        kind = self.get("citype") or ("configdrive2" if is_windows else "nocloud")
        if kind != "nocloud":
            raise CloudInitError(f"cloud-init drives of type {kind} are not simulated")

    @property
    def names(self) -> tuple[str, str]:
        """The short name and the long one."""
        name = self.get("name") or f"VM{self.vmid}"
        if "." in name:
            return name.partition(".")[0], name
        search = self.get("searchdomain")
        return name, f"{name}.{search}" if search else name

    @property
    def search_domains(self) -> list[str]:
        searchdomain = self.get("searchdomain")
        return (self.resolver.search if searchdomain is None else searchdomain).split()

    @property
    def nameservers(self) -> list[str]:
        nameserver = self.get("nameserver")
        return list(self.resolver.servers) if nameserver is None else nameserver.split()

    @property
    def ssh_keys(self) -> list[str] | None:
        """Public keys. None: none are spoken of."""
        sshkeys = self.get("sshkeys")
        if sshkeys is None:
            return None
        return [key for key in unquote(sshkeys).split("\n") if key.strip()]

    def cards(self) -> Iterator[Card]:
        """Cards with an `ipconfig`, sorted as texts: `net10` comes before `net2`."""
        for key in sorted(self.values):
            number = _NET.fullmatch(key)
            if number is None or not self.values.get(f"ipconfig{number[1]}"):
                continue
            net = pairs(self.values[key])
            mac = net.get("macaddr", "") or next(
                (value for value in net.values() if _MAC.fullmatch(value)), ""
            )
            addressing = _addressing(self.values[f"ipconfig{number[1]}"])
            yield Card(number=number[1], mac=mac, mtu=net.get("mtu", ""), **addressing)


def pairs(text: str) -> dict[str, str]:
    """A property string, taken apart."""
    values = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        values[name] = value
    return values


def _addressing(text: str) -> dict[str, str]:
    """`ipconfigN`; what contradicts itself is passed over as a whole, as Proxmox VE does."""
    values = {
        name: value for name, value in pairs(text).items() if name in ("ip", "gw", "ip6", "gw6")
    }
    if values.get("gw") and values.get("ip", _DHCP) == _DHCP:
        return {}
    if values.get("gw6") and values.get("ip6", _DHCP) in (_DHCP, _AUTO):
        return {}
    if not values.get("ip") and not values.get("ip6"):
        return {"ip": _DHCP, "ip6": _DHCP}
    return values
