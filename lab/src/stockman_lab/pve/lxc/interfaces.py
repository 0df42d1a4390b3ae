"""Network links inside of a running container, and their addresses."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_interface

from stockman_lab.guest.network import NicView, link_local, self_made
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.nic import ContainerNic, parse_container_nic
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.keys import index_of

_DEFAULT_MTU = 1500
NETWORK_AT = "network_at"
"""When a container brings its links up. Not there: it has."""


@dataclass(slots=True)
class Interface:
    """One link as `ip address` shows it."""

    name: str
    mac: str
    addresses: list[str] = field(default_factory=list)

    def row(self) -> dict[str, object]:
        found: dict[str, object] = {"name": self.name}
        rows = []
        for address in map(ip_interface, self.addresses):
            family = "inet" if address.version == 4 else "inet6"
            found[family] = str(address)
            rows.append(
                {
                    "ip-address": str(address.ip),
                    "ip-address-type": family,
                    "prefix": address.network.prefixlen,
                }
            )
        return {
            **found,
            "ip-addresses": rows,
            "hardware-address": self.mac,
            "hwaddr": self.mac,
        }


def interfaces_of(cluster: Cluster, guest: Guest) -> list[Interface]:
    """The links of a running container, the loopback first."""
    cards = {
        number: parse_container_nic(value)
        for key, value in guest.config.values.items()
        for number in [index_of(key, "net")]
        if number is not None
    }
    interfaces = [Interface("lo", "00:00:00:00:00:00", ["127.0.0.1/8", "::1/128"])]
    if cluster.now < float(str(guest.inside.get(NETWORK_AT, 0.0))):
        return interfaces
    return interfaces + [_linked(cluster, number, cards[number]) for number in sorted(cards)]


def _linked(cluster: Cluster, number: int, card: ContainerNic) -> Interface:
    options = card.options
    view = NicView(
        number=number,
        mac=card.mac,
        bridge=card.bridge,
        vlan=card.tag,
        model="veth",
        is_linked=not card.is_down,
        mtu=int(options.get("mtu", str(_DEFAULT_MTU))),
    )
    link = Interface(card.name, card.mac.lower())
    if view.is_linked:
        asked = ((options.get("ip", ""), 4), (options.get("ip6", ""), 6))
        addresses = [_address(cluster, view, text, version) for text, version in asked]
        link.addresses = [one for one in (*addresses, link_local(card.mac)) if one]
    return link


def _address(cluster: Cluster, nic: NicView, text: str, version: int) -> str | None:
    network = cluster.around.network
    if text == "dhcp":
        return network.lease(nic, version)
    if text == "auto":
        prefix = network.prefix(nic)
        return None if prefix is None else self_made(prefix, nic.mac)
    return None if text in ("", "manual") else text
