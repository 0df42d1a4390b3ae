"""Network cards of guests: `virtio=BC:24:11:AA:BB:CC,bridge=vmbr0`, `name=eth0,bridge=vmbr0`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from stockman_lab.pve.formats.property_string import (
    REQUIRED_DEFAULT_KEY,
    Format,
    Property,
    booleans,
    parse,
    print_properties,
)


class Throws(Protocol):
    """Dice of the world, as far as texts need them."""

    def random_bytes(self, count: int) -> bytes:
        """So many bytes."""

    def uuid(self) -> str:
        """A random UUID."""


DEFAULT_PREFIX = "BC:24:11"


def new_mac(dice: Throws, prefix: str = DEFAULT_PREFIX) -> str:
    """A unicast address in upper case that starts with the prefix of the data centre."""
    thrown = dice.random_bytes(6)
    first = (thrown[0] & 0xFE) | 0x02
    address = ":".join(f"{byte:02X}" for byte in (first, *thrown[1:]))
    return prefix.upper() + address[len(prefix) :]


@dataclass(slots=True)
class Card:
    """One network card with its options."""

    options: dict[str, str]

    format: ClassVar[Format]
    address: ClassVar[str]
    """The option that holds its address."""

    @property
    def mac(self) -> str:
        """Its address, in the case in which it was given; nothing if it has none yet."""
        return self.options.get(self.address, "")

    @property
    def bridge(self) -> str:
        """What it is plugged into, or nothing."""
        return self.options.get("bridge", "")

    @property
    def tag(self) -> int | None:
        """Its VLAN, None: untagged."""
        return int(self.options["tag"]) if "tag" in self.options else None

    @property
    def is_down(self) -> bool:
        """Whether its cable is pulled."""
        return self.options.get("link_down") == "1"

    def __str__(self) -> str:
        return print_properties(self.format, self.options)


CONTAINER_NIC: Format = {
    "name": Property(required=True),
    **booleans("firewall link_down host-managed"),
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


def complete_container_nic(text: str, dice: Throws, prefix: str = DEFAULT_PREFIX) -> ContainerNic:
    """The card as Proxmox VE writes it down: of type veth, and with an address."""
    nic = parse_container_nic(text)
    nic.options["type"] = "veth"
    if not nic.mac:
        nic.options["hwaddr"] = new_mac(dice, prefix)
    return nic


MODELS = (
    *("e1000", "e1000-82540em", "e1000-82544gc", "e1000-82545em", "e1000e"),
    *("i82551", "i82557b", "i82559er", "ne2k_isa", "ne2k_pci", "pcnet", "rtl8139"),
    *("virtio", "vmxnet3"),
)
_LONGEST_VLAN = 4

NIC: Format = {
    "model": REQUIRED_DEFAULT_KEY,
    **{name: Property(alias="macaddr", kept_in="model") for name in MODELS},
    **booleans("firewall link_down host-tunnel"),
}


class Nic(Card):
    """One network card of a virtual machine."""

    __slots__ = ()
    format = NIC
    address = "macaddr"

    @property
    def model(self) -> str:
        """What kind of card the guest sees."""
        return self.options["model"]


def parse_nic(text: str) -> Nic:
    """The card as it is written; raises `FormatError`."""
    return Nic(parse(NIC, text))


def complete_nic(text: str, dice: Throws, prefix: str = DEFAULT_PREFIX) -> Nic:
    """The card as it is written, with a new address if it has none."""
    nic = parse_nic(text)
    if not nic.mac:
        nic.options["macaddr"] = new_mac(dice, prefix)
    return nic


def renew_nic(text: str, dice: Throws, prefix: str = DEFAULT_PREFIX) -> Nic:
    """The card of a clone: the same with a new address."""
    nic = parse_nic(text)
    nic.options["macaddr"] = new_mac(dice, prefix)
    return nic


def vlans(trunks: str) -> list[str]:
    """All VLANs of a trunk, sorted as text; a range that runs backwards counts as its first."""
    firsts: set[str] = set()
    for trunk in trunks.split(";"):
        first, _, last = trunk.partition("-")
        firsts.add(first)
        if last and max(len(first), len(last)) <= _LONGEST_VLAN:
            firsts.update(str(vlan) for vlan in range(int(first), int(last) + 1))
    return sorted(firsts - {""})
