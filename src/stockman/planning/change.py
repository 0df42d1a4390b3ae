"""Changes: what differs between what should be and what is, in words for whoever reads a plan."""

from __future__ import annotations

from enum import Enum

from stockman.model.record import record
from stockman.steps.step import Stage


class Mark(Enum):
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
    mark: Mark
    stage: Stage
    destroys: str = ""
    """What is lost for good, in plain words. Empty: nothing."""
    node: str = ""
    """The node or guest that it is about. Empty: the whole cluster."""

    @property
    def made_by(self) -> tuple[str, ...]:
        """The steps that make it true. Empty: those of its stage and node."""
        return ()
