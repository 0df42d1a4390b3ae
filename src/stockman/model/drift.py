"""Differences that are meant to stay for a while: which, why, and until when."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.shapes import DateText, Example

DriftLayer = Literal["vms", "placement", "talos", "kubernetes", "tree", "access"]


@record
class DriftRule(Traced):
    """A difference that `stockman drift` does not count; `apply` changes it all the same."""

    layer: DriftLayer
    """Where: VMs, placement, Talos, Kubernetes, tree or access."""
    reason: Annotated[str, Example("bigger until the import is over")]
    """Why it may stay; shown whenever it is ignored."""
    until: DateText
    """The last day on which it is ignored. From the next day on it counts again."""
    subject: Annotated[str, Example("work-1")] = "*"
    """Which node, object, file or account; `*` stands for any text."""
    field: Annotated[str, Example("memory")] = "*"
    """Which of its values; `*` stands for any text."""

    @property
    def last_day(self) -> date:
        return date.fromisoformat(self.until)


@record
class DriftSettings(Traced):
    """What `stockman drift` leaves out."""

    ignore: tuple[DriftRule, ...] = ()
    """Differences that may stay for a while."""
