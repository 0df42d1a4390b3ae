"""Changes: what differs between what should be and what is, in words for whoever reads a plan."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from stockman.model.record import record
from stockman.steps.step import Stage, Step


class ChangeKind(Enum):
    """How a change is drawn in front of its line."""

    ADD = "+"
    CHANGE = "~"
    REMOVE = "-"


@record
class Change:
    """One difference, before anybody decides how it is made true.

    The parts of planning derive records from this one that carry what their steps need.
    """

    what: str
    """What will be different, in a line: `VM 1030 (cp-1) on pve1: 4 cores, 8192 MiB`."""
    why: str
    """The reason, with the two values that differ."""
    mark: ChangeKind
    stage: Stage
    destroys: str = ""
    """What is lost for good, in plain words. Empty: nothing."""
    node: str = ""
    """The node or guest that it is about. Empty: the whole cluster."""

    @property
    def made_by(self) -> tuple[str, ...]:
        """The steps that make it true. Empty: those of its stage and node."""
        return ()


@record
class ProxmoxChange(Change):
    """One change and its steps, in an order in which they can be done."""

    region: str
    steps: tuple[Step, ...]

    @property
    def made_by(self) -> tuple[str, ...]:
        return tuple(step.id for step in self.steps)


def unique_steps(changes: Iterable[Change]) -> tuple[Step, ...]:
    """The steps of all changes, each once."""
    found: dict[str, Step] = {}
    for change in changes:
        if isinstance(change, ProxmoxChange):
            found |= {step.id: step for step in change.steps}
    return tuple(found.values())


def lane_widths(planned: Iterable[Step]) -> dict[str, int]:
    """How many steps may be on a lane at once: Proxmox VE serves some at a time well."""
    named = {lane for step in planned for lane in step.lanes}
    return {lane: _WIDTH[kind] for lane in sorted(named) if (kind := lane.split("/")[0]) in _WIDTH}


_WIDTH = {"storage": 4, "host": 8, "image": 2}


def storage_lane(region: str, storage: str, host: str, *, shared: bool) -> str:
    """The lane of a storage; one that hosts do not share is another on each."""
    return f"storage/{region}/{storage}" if shared else f"storage/{region}/{host}/{storage}"
