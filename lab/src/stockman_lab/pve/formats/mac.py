"""Addresses of network cards that nobody chose."""

from __future__ import annotations

from stockman_lab.pve.formats.throws import Throws

DEFAULT_PREFIX = "BC:24:11"


def new_mac(dice: Throws, prefix: str = DEFAULT_PREFIX) -> str:
    """A unicast address in upper case that starts with the prefix of the data centre."""
    thrown = dice.random_bytes(6)
    first = (thrown[0] & 0xFE) | 0x02
    address = ":".join(f"{byte:02X}" for byte in (first, *thrown[1:]))
    return prefix.upper() + address[len(prefix) :]
