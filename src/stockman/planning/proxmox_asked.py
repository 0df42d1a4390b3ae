"""What planning has to be told about a Proxmox cluster."""

from __future__ import annotations

from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.proxmox.rights import Need


@record
class Wanted:
    """What planning will ask about a cluster."""

    vmids: frozenset[Vmid] = frozenset()
    """Numbers that machines are to have."""
    image_storages: frozenset[str] = frozenset()
    system_storages: frozenset[str] = frozenset()
    """Storages that hold what containers are made from."""
    users: frozenset[str] = frozenset()
    """Users whose tokens matter."""
    needs: tuple[Need, ...] = ()
    """Rights of stockman's token that matter."""
    every_guest: bool = False
    """Whether the configurations of all guests matter, and not of those alone that are named."""
    at_once: int = 16
    """Questions at the same time."""
