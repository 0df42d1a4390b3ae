"""Whether two values of a guest's key mean the same, however they are spelled."""

from __future__ import annotations

import re

from stockman.model.proxmox_devices import AgentChannel, Card, Smbios, memory_mib
from stockman.model.proxmox_strings import boot_order, properties, tags, truth

_DEFAULTS = {
    "agent": "0",
    "bios": "seabios",
    "citype": "nocloud",
    "cores": "1",
    "cpu": "kvm64",
    "machine": "pc",
    "memory": "512",
    "numa": "0",
    "onboot": "0",
    "protection": "0",
    "scsihw": "lsi",
    "sockets": "1",
    "swap": "512",
    "vga": "std",
}
"""What holds where a key is not set."""
_BARE = {"cpu": "cputype", "machine": "type", "vga": "type", "unprivileged": ""}
_USUAL_DELAYS = {"up": "0", "down": "180"}
_FLAGS = frozenset({"numa", "onboot", "protection", "unprivileged"})
_NUMBERED = re.compile(r"([a-z]+)\d+")


def same(key: str, wanted: str, found: str | None) -> bool:
    """Whether the value that is wanted is there already. None: the key is not set."""
    there = _DEFAULTS.get(key) if found is None else found
    if there is None:
        return not wanted
    try:
        return _same(key, wanted, there)
    except ValueError:
        return wanted == there


def _same(key: str, wanted: str, found: str) -> bool:
    kind = family(key)
    if kind == "net":
        return _card(wanted) == _card(found)
    if kind in ("hostpci", "usb"):
        return _pairs(wanted, "host") == _pairs(found, "host")
    if kind == "ipconfig":
        return properties(wanted) == properties(found)
    if key == "tags":
        return set(tags(wanted)) <= set(tags(found))
    if key == "description":
        return wanted.strip() == found.strip()
    if key == "agent":
        return AgentChannel.parse(wanted).enabled == AgentChannel.parse(found).enabled
    if key == "smbios1":
        return Smbios.parse(wanted) == Smbios.parse(found)
    if key == "boot":
        # Proxmox VE adds drives at the end when something is put into them.
        order = boot_order(wanted)
        return boot_order(found)[: len(order)] == order
    if key == "memory":
        return memory_mib(wanted) == memory_mib(found)
    if key == "startup":
        return _delays(wanted) == _delays(found)
    if key == "nameserver":
        return wanted.split() == found.split()
    if key in _FLAGS:
        return truth(wanted) == truth(found)
    if key in _BARE:
        return _pairs(wanted, _BARE[key] or key) == _pairs(found, _BARE[key] or key)
    return wanted == found


def family(key: str) -> str:
    """`net` of `net0`; a key without a number is its own."""
    numbered = _NUMBERED.fullmatch(key)
    return numbered[1] if numbered is not None else key


def _pairs(text: str, default: str) -> dict[str, str]:
    return {name: value for name, value in properties(text, default=default).items() if value != ""}


def _delays(text: str) -> dict[str, str]:
    return _USUAL_DELAYS | _pairs(text, "order")


def _card(text: str) -> object:
    """What counts of a card; containers write theirs without a model."""
    values = properties(text, default="model")
    if "hwaddr" in values:
        values["hwaddr"] = values["hwaddr"].lower()
        return {key: value for key, value in values.items() if (key, value) not in _USUAL_OF_CARDS}
    card = Card.parse(text)
    options = {key: value for key, value in card.options.items() if value != "0"}
    return (card.model, card.mac, card.bridge, card.vlan_id, options)


_USUAL_OF_CARDS = frozenset({("firewall", "0"), ("type", "veth")})
