"""Changes on the side of Proxmox VE, with the steps that make them true."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.model.record import record
from stockman.planning.change import Change
from stockman.steps.step import Step


@record
class ProxmoxChange(Change):
    """One change and its steps, in an order in which they can be done."""

    region: str
    steps: tuple[Step, ...]

    @property
    def made_by(self) -> tuple[str, ...]:
        return tuple(step.id for step in self.steps)


def steps(changes: Iterable[Change]) -> tuple[Step, ...]:
    """The steps of all changes, each once."""
    found: dict[str, Step] = {}
    for change in changes:
        if isinstance(change, ProxmoxChange):
            found |= {step.id: step for step in change.steps}
    return tuple(found.values())


def lanes(planned: Iterable[Step]) -> dict[str, int]:
    """How many steps may be on a lane at once: Proxmox VE serves some at a time well."""
    named = {lane for step in planned for lane in step.lanes}
    return {lane: _WIDTH[kind] for lane in sorted(named) if (kind := lane.split("/")[0]) in _WIDTH}


_WIDTH = {"storage": 4, "host": 8, "image": 2}


def storage_lane(region: str, storage: str, host: str, *, shared: bool) -> str:
    """The lane of a storage; one that hosts do not share is another on each."""
    return f"storage/{region}/{storage}" if shared else f"storage/{region}/{host}/{storage}"
