"""What several kinds of resources say of a machine."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_IDENTITY_BYTES = 32
_STEP = 1000
_ONE_DIGIT = 10


def nodename(machine: Machine) -> str:
    """The name of its Node. Empty: it has no configuration, or no name yet."""
    config, network = machine.config, machine.state.network
    if config is None or not network.hostname:
        return ""
    full = config.kubelet.registers_with_fqdn and network.domain
    name = f"{network.hostname}.{network.domain}" if full else network.hostname
    return name.lower()


def full_hostname(machine: Machine) -> str:
    network = machine.state.network
    return f"{network.hostname}.{network.domain}" if network.domain else network.hostname


def node_identity(machine: Machine) -> str:
    """Who it is to other members; what its disk keeps, else made of its UUID."""
    disk = machine.disk
    kept = disk.node_identity if disk is not None else ""
    if kept:
        return kept
    raw = hashlib.blake2b(
        f"{machine.key}/{machine.state.uuid}".encode(), digest_size=_IDENTITY_BYTES
    ).digest()
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, place = divmod(number, len(_DIGITS))
        text = _DIGITS[place] + text
    return text


def is_configured(machine: Machine) -> bool:
    """Whether it has a configuration that a node can run of."""
    config = machine.config
    return config is not None and not config.is_partial


def family_of(address: str) -> str:
    """`inet4` or `inet6`, of an address with or without prefix."""
    return "inet6" if ":" in address else "inet4"


def bare(address: str) -> str:
    """An address without its prefix."""
    return address.partition("/")[0]


def ordered(prefixes: list[str]) -> list[str]:
    """Addresses with prefixes in their order, each of them once."""
    return sorted(dict.fromkeys(prefixes), key=_place)


def _place(prefix: str) -> tuple[int, int, int]:
    ip_interface = ipaddress.ip_interface(prefix)
    return ip_interface.version, int(ip_interface.ip), ip_interface.network.prefixlen


def pretty_size(size: int) -> str:
    """A size as people read it, `34 GB`: steps of a thousand, a decimal below ten."""
    if size < _ONE_DIGIT:
        return f"{size} B"
    value, unit = float(size), 0
    while value >= _STEP:
        value, unit = value / _STEP, unit + 1
    # Half a unit is rounded up, as Go's floor of value plus a half does.
    rounded = int(value * 10 + 0.5) / 10
    text = f"{rounded:.1f}" if rounded < _ONE_DIGIT else f"{rounded:.0f}"
    return f"{text} {('B', 'kB', 'MB', 'GB', 'TB', 'PB')[unit]}"


def certificate(text: str) -> dict[str, str]:
    return {"crt": _base64_text(text)}


def certificate_and_key(crt: str, key: str) -> dict[str, str]:
    return {"crt": _base64_text(crt), "key": _base64_text(key)}


def _base64_text(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")
