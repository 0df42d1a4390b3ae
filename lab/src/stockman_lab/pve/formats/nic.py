"""Network cards of virtual machines: `virtio=BC:24:11:AA:BB:CC,bridge=vmbr0,tag=62`."""

from __future__ import annotations

from stockman_lab.pve.formats.card import Card
from stockman_lab.pve.formats.checks import bridge_id, unicast_mac
from stockman_lab.pve.formats.mac import DEFAULT_PREFIX, new_mac
from stockman_lab.pve.formats.property_string import Format, Property, parse
from stockman_lab.pve.formats.throws import Throws

MODELS = (
    *("e1000", "e1000-82540em", "e1000-82544gc", "e1000-82545em", "e1000e"),
    *("i82551", "i82557b", "i82559er", "ne2k_isa", "ne2k_pci", "pcnet", "rtl8139"),
    *("virtio", "vmxnet3"),
)
_LONGEST_VLAN = 4

NIC: Format = {
    "model": Property(required=True, default_key=True, enum=MODELS),
    "macaddr": Property(check=unicast_mac),
    **{name: Property(alias="macaddr", kept_in="model") for name in MODELS},
    "bridge": Property(check=bridge_id),
    "queues": Property(kind="integer", minimum=0, maximum=64),
    "rate": Property(kind="number", minimum=0),
    "tag": Property(kind="integer", minimum=1, maximum=4094),
    "trunks": Property(pattern=r"\d+(?:-\d+)?(?:;\d+(?:-\d+)?)*"),
    "firewall": Property(kind="boolean"),
    "link_down": Property(kind="boolean"),
    "mtu": Property(kind="integer", minimum=1, maximum=65520),
    "host-tunnel": Property(kind="boolean"),
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


def completed_nic(text: str, dice: Throws, prefix: str = DEFAULT_PREFIX) -> Nic:
    """The card as it is written, with a new address if it has none."""
    nic = parse_nic(text)
    if not nic.mac:
        nic.options["macaddr"] = new_mac(dice, prefix)
    return nic


def renewed_nic(text: str, dice: Throws, prefix: str = DEFAULT_PREFIX) -> Nic:
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
