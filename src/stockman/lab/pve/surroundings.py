"""What a Proxmox cluster needs from the world around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman.lab.core.dice import Dice
    from stockman.lab.core.faults import Faults
    from stockman.lab.core.timeline import Timeline
    from stockman.lab.guest.network import Network
    from stockman.lab.guest.systems import Systems
    from stockman.lab.images.blobs import Blobs
    from stockman.lab.pve.outside import Outside


@dataclass(slots=True)
class Surroundings:
    """Time, dice, faults, bytes, and the way to fetch more of those."""

    timeline: Timeline
    dice: Dice
    faults: Faults
    blobs: Blobs
    outside: Outside
    systems: Systems
    """What boots from which image."""
    network: Network
    """The networks behind bridges: who gets which address."""

    @property
    def now(self) -> float:
        return self.timeline.now
