"""What a guest gets from its networks: leases, and addresses that it makes itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address, IPv6Interface, IPv6Network, ip_address, ip_interface
from typing import Protocol

from stockman_lab.core.state import state


@dataclass(slots=True, kw_only=True)
class NicView:
    """One network card."""

    number: int
    """0 of `net0`."""
    mac: str
    bridge: str
    vlan: int | None = None
    """None: untagged."""
    model: str = "virtio"
    is_linked: bool = True
    mtu: int = 1500


_LINK_LOCAL = IPv6Network("fe80::/64")


class Network(Protocol):
    """Everything outside of the guests that answers on their bridges."""

    def lease(self, nic: NicView, version: int) -> str | None:
        """The address with prefix that a card gets over DHCP, the same each time. None: none."""
        ...

    def prefix(self, nic: NicView) -> str | None:
        """The IPv6 network that a router announces. None: there is no router."""
        ...

    def is_home(self, address: str, nic: NicView) -> bool:
        """Whether a card is where an address belongs; all are at home where nobody knows."""
        ...


@state
class Pool:
    """Addresses of one network for those who ask."""

    bridge: str
    first: str
    """With prefix: `127.66.1.100/24`."""
    count: int
    vlan: int | None = None
    """None: untagged."""
    announced: bool = False
    """Of IPv6: whether a router announces the network, so that guests make their own addresses.

    The router of an untagged network serves all VLANs of its bridge, with a network for each.
    """
    trunks: list[int] | None = field(default_factory=list)
    """Other VLANs of the bridge that lead to this network. None: all do."""
    leases: dict[str, int] = field(default_factory=dict)
    """Places by MAC address, in small letters."""
    reserved: dict[str, str] = field(default_factory=dict)
    """Addresses that are kept for cards, by MAC address in small letters."""

    @property
    def version(self) -> int:
        return ip_interface(self.first).version

    def lease(self, mac: str) -> str | None:
        """The address of a card. None: all are taken."""
        mac, start = mac.lower(), ip_interface(self.first)
        if mac in self.reserved:
            return f"{self.reserved[mac]}/{start.network.prefixlen}"
        if mac not in self.leases:
            taken = self._taken()
            free = next((number for number in range(self.count) if number not in taken), None)
            if free is None:
                return None
            self.leases[mac] = free
        address = ip_address(int(start.ip) + self.leases[mac])
        return f"{address}/{start.network.prefixlen}"

    def _taken(self) -> set[int]:
        """Places that others have, or are to have."""
        start = int(ip_interface(self.first).ip)
        kept = {int(ip_address(one)) - start for one in self.reserved.values()}
        return kept | set(self.leases.values())

    def covers(self, address: str) -> bool:
        """Whether an address belongs to this network."""
        return ip_address(address) in ip_interface(self.first).network

    def is_reached_by(self, nic: NicView) -> bool:
        """Whether a card is in this network."""
        if nic.bridge != self.bridge:
            return False
        return self.trunks is None or nic.vlan == self.vlan or nic.vlan in self.trunks

    def forget(self, mac: str) -> None:
        """Free the place of a card that is gone."""
        self.leases.pop(mac.lower(), None)


@state
class Pools:
    """A network that is pools of addresses, by bridge and VLAN."""

    pools: list[Pool] = field(default_factory=list)

    def lease(self, nic: NicView, version: int) -> str | None:
        pool = self._pool(nic, version)
        return None if pool is None else pool.lease(nic.mac)

    def is_home(self, address: str, nic: NicView) -> bool:
        known = [pool for pool in self.pools if pool.covers(address)]
        return not known or any(one.is_reached_by(nic) for one in known)

    def prefix(self, nic: NicView) -> str | None:
        pool = self._pool(nic, 6)
        if pool is not None:
            return str(ip_interface(pool.first).network) if pool.announced else None
        router = self._pool(replace(nic, vlan=None), 6)
        if router is None or not router.announced:
            return None
        network = IPv6Interface(router.first).network
        first = int(network.network_address) | (nic.vlan or 0) << 64
        return f"{IPv6Address(first)}/{network.prefixlen}"

    def _pool(self, nic: NicView, version: int) -> Pool | None:
        bridges = (nic.bridge, nic.vlan, version)
        return next(
            (pool for pool in self.pools if (pool.bridge, pool.vlan, pool.version) == bridges), None
        )


def link_local(mac: str) -> str:
    """The address that a card gives itself."""
    return self_made(str(_LINK_LOCAL), mac)


def self_made(prefix: str, mac: str) -> str:
    """The address that a card makes of an announced network and its MAC address."""
    octets = bytearray.fromhex(mac.replace(":", ""))
    octets[0] ^= 0x02
    number = int.from_bytes(octets[:3] + b"\xff\xfe" + octets[3:], "big")
    network = IPv6Network(prefix)
    return f"{IPv6Address(int(network.network_address) | number)}/{network.prefixlen}"
