"""A network card as its guest sees it."""

from __future__ import annotations

from dataclasses import dataclass


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
