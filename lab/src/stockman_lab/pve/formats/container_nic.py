"""Network cards of containers: `name=eth0,bridge=vmbr0,hwaddr=...,ip=dhcp,type=veth`."""

from __future__ import annotations

from stockman_lab.pve.formats.card import Card
from stockman_lab.pve.formats.checks import ipv4, ipv4_config, ipv6, ipv6_config, unicast_mac
from stockman_lab.pve.formats.mac import DEFAULT_PREFIX, new_mac
from stockman_lab.pve.formats.property_string import Format, Property, parse
from stockman_lab.pve.formats.throws import Throws

CONTAINER_NIC: Format = {
    "type": Property(enum=("veth",)),
    "name": Property(required=True, pattern=r"[-_.\w\d]+"),
    "bridge": Property(pattern=r"[-_.\w\d]+"),
    "hwaddr": Property(check=unicast_mac),
    "mtu": Property(kind="integer", minimum=64, maximum=65535),
    "ip": Property(check=ipv4_config),
    "gw": Property(check=ipv4),
    "ip6": Property(check=ipv6_config),
    "gw6": Property(check=ipv6),
    "firewall": Property(kind="boolean"),
    "tag": Property(kind="integer", minimum=1, maximum=4094),
    "trunks": Property(pattern=r"\d+(?:;\d+)*"),
    "rate": Property(kind="number"),
    "link_down": Property(kind="boolean"),
    "host-managed": Property(kind="boolean"),
}


class ContainerNic(Card):
    """One network card of a container."""

    __slots__ = ()
    format = CONTAINER_NIC
    address = "hwaddr"

    @property
    def name(self) -> str:
        """What it is called inside."""
        return self.options["name"]


def parse_container_nic(text: str) -> ContainerNic:
    """The card as it is written; raises `FormatError`."""
    return ContainerNic(parse(CONTAINER_NIC, text))


def completed_container_nic(text: str, dice: Throws, prefix: str = DEFAULT_PREFIX) -> ContainerNic:
    """The card as Proxmox VE writes it down: of type veth, and with an address."""
    nic = parse_container_nic(text)
    nic.options["type"] = "veth"
    if not nic.mac:
        nic.options["hwaddr"] = new_mac(dice, prefix)
    return nic
