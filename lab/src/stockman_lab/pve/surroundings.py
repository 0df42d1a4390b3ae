"""What a Proxmox cluster needs from the world around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockman_lab.core.state import state

if TYPE_CHECKING:
    from stockman_lab.core.dice import Dice
    from stockman_lab.core.faults import Fault, Faults
    from stockman_lab.core.timeline import Timeline
    from stockman_lab.guest.network import Network
    from stockman_lab.guest.systems import Systems
    from stockman_lab.images.blobs import Blobs
    from stockman_lab.pve.cluster_state import ClusterState
    from stockman_lab.pve.outside import Outside


@state
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
    remember: Callable[[], None]
    """Keeps what is true now for faults that lie from now on."""
    recall: Callable[[Fault, str], tuple[ClusterState, Surroundings]]
    """The cluster of a name, and what was around it, as a fault that lies remembers them."""

    @property
    def now(self) -> float:
        return self.timeline.now
