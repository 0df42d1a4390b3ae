"""Compares values of guests, regardless of their notation."""

from __future__ import annotations

import re

from stockman.model.proxmox_values import (
    AgentChannel,
    NetworkCard,
    Smbios,
    parse_boot_order,
    parse_flag,
    parse_memory,
    parse_properties,
    parse_tags,
)

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
"""Defaults of Proxmox VE for keys that are not set."""
_BARE_KEYS = {"cpu": "cputype", "machine": "type", "vga": "type", "unprivileged": ""}
_DEFAULT_DELAYS = {"up": "0", "down": "180"}
_FLAGS = frozenset({"numa", "onboot", "protection", "unprivileged"})
_NUMBERED = re.compile(r"([a-z]+)\d+")


def same_value(key: str, desired: str, observed: str | None) -> bool:
    """Return whether a key has its desired value. None: the key is not set."""
    current = _DEFAULTS.get(key) if observed is None else observed
    if current is None:
        return not desired
    try:
        return _same(key, desired, current)
    except ValueError:
        return desired == current


def _same(key: str, desired: str, observed: str) -> bool:
    kind = key_family(key)
    if kind == "net":
        return _nic(desired) == _nic(observed)
    if kind in ("hostpci", "usb"):
        return _pairs(desired, "host") == _pairs(observed, "host")
    if kind == "ipconfig":
        return parse_properties(desired) == parse_properties(observed)
    if key == "tags":
        return set(parse_tags(desired)) <= set(parse_tags(observed))
    if key == "description":
        return desired.strip() == observed.strip()
    if key == "agent":
        return AgentChannel.parse(desired).enabled == AgentChannel.parse(observed).enabled
    if key == "smbios1":
        return Smbios.parse(desired) == Smbios.parse(observed)
    if key == "boot":
        # Proxmox VE adds drives at the end when something is put into them.
        order = parse_boot_order(desired)
        return parse_boot_order(observed)[: len(order)] == order
    if key == "memory":
        return parse_memory(desired) == parse_memory(observed)
    if key == "features":
        return _features(desired) == _features(observed)
    if key == "startup":
        return _delays(desired) == _delays(observed)
    if key == "nameserver":
        return desired.split() == observed.split()
    if key in _FLAGS:
        return parse_flag(desired) == parse_flag(observed)
    if key in _BARE_KEYS:
        return _pairs(desired, _BARE_KEYS[key] or key) == _pairs(observed, _BARE_KEYS[key] or key)
    return desired == observed


def key_family(key: str) -> str:
    """Return `net` for `net0`; a key without a number is its own family."""
    numbered = _NUMBERED.fullmatch(key)
    return numbered[1] if numbered is not None else key


def _pairs(text: str, default: str) -> dict[str, str]:
    return {
        name: value
        for name, value in parse_properties(text, default=default).items()
        if value != ""
    }


def _features(text: str) -> dict[str, frozenset[str]]:
    """Return the features of a container; their order, and that of filesystems, is arbitrary."""
    values = parse_properties(text, default="features").items()
    return {name: frozenset(value.split(";")) for name, value in values if value not in ("", "0")}


def _delays(text: str) -> dict[str, str]:
    return _DEFAULT_DELAYS | _pairs(text, "order")


def _nic(text: str) -> object:
    """Return the relevant settings of a network card; those of containers have no model."""
    values = parse_properties(text, default="model")
    if "hwaddr" in values:
        values["hwaddr"] = values["hwaddr"].lower()
        return {key: value for key, value in values.items() if (key, value) not in _NIC_DEFAULTS}
    card = NetworkCard.parse(text)
    options = {key: value for key, value in card.options.items() if value != "0"}
    return (card.model, card.mac, card.bridge, card.vlan_id, options)


_NIC_DEFAULTS = frozenset({("firewall", "0"), ("type", "veth")})
