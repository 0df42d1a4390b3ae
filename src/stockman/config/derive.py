"""Values that follow from others, so that they are the same on every machine and in every run."""

from __future__ import annotations

import hashlib
from uuid import UUID, uuid5

from stockman.model.names import Mac

_NAMESPACE = UUID("5ea2f6d0-7d3a-5f0e-9a57-3c6c0f5d1b60")
_PREFIX = "bc:24:11"


def machine_uuid(cluster: str, node: str) -> UUID:
    """The SMBIOS UUID of a node's VM."""
    return uuid5(_NAMESPACE, f"{cluster}/{node}")


def card_mac(cluster: str, node: str, card: int) -> Mac:
    """The MAC address of one of a node's network cards, with the prefix that Proxmox uses."""
    digest = hashlib.sha256(f"{cluster}/{node}/{card}".encode()).digest()
    return Mac(":".join([_PREFIX, *(f"{octet:02x}" for octet in digest[:3])]))
