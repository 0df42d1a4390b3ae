"""Changes: differences between the desired and the observed state, as shown to the user."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from stockman.model.record import record
from stockman.steps.step import Stage, Step


class ChangeKind(Enum):
    """The sign in front of a change."""

    ADD = "+"
    CHANGE = "~"
    REMOVE = "-"


@record
class Change:
    """One difference, independent of how it is resolved.

    The planners derive records that carry what their steps need.
    """

    what: str
    """What changes, in one line: `VM 1030 (cp-1) on pve1: 4 cores, 8192 MiB`."""
    why: str
    """The reason, with both values."""
    mark: ChangeKind
    stage: Stage
    destroys: str = ""
    """What is permanently lost. Empty: nothing."""
    node: str = ""
    """The node or guest. Empty: the whole cluster."""

    @property
    def step_ids(self) -> tuple[str, ...]:
        """Ids of the steps that make this change. Empty: all steps of its stage and node."""
        return ()


@record
class ProxmoxChange(Change):
    """A change with its steps, in execution order."""

    region: str
    steps: tuple[Step, ...]

    @property
    def step_ids(self) -> tuple[str, ...]:
        return tuple(step.id for step in self.steps)


def unique_steps(changes: Iterable[Change]) -> tuple[Step, ...]:
    """Return the steps of all changes, each once."""
    steps: dict[str, Step] = {}
    for change in changes:
        if isinstance(change, ProxmoxChange):
            steps |= {step.id: step for step in change.steps}
    return tuple(steps.values())


def lane_widths(planned: Iterable[Step]) -> dict[str, int]:
    """Return the maximum number of parallel steps per lane."""
    named = {lane for step in planned for lane in step.lanes}
    return {lane: _WIDTH[kind] for lane in sorted(named) if (kind := lane.split("/")[0]) in _WIDTH}


_WIDTH = {"storage": 4, "host": 8, "image": 2}


def storage_lane(region: str, storage: str, host: str, *, shared: bool) -> str:
    """Return the lane of a storage; a local storage has one lane per host."""
    return f"storage/{region}/{storage}" if shared else f"storage/{region}/{host}/{storage}"
