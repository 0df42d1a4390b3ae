"""What was found in all layers together."""

from __future__ import annotations

from datetime import date
from enum import Enum

from stockman.app.drift.finding import Drift, Gap
from stockman.app.drift.layer import Layer
from stockman.model.drift import DriftRule
from stockman.model.record import record


class LayerState(Enum):
    """How a layer is."""

    SAME = "same"
    DRIFT = "drift"
    UNKNOWN = "unknown"
    """A part of it could not be read; drifts may have been found in the rest."""


@record
class Ignored:
    """A drift that a rule lets stay."""

    drift: Drift
    reason: str
    until: str


@record
class Report:
    """Drifts, what is ignored, and what nobody could tell."""

    today: date
    layers: tuple[Layer, ...]
    """Those that were looked at."""
    drifts: tuple[Drift, ...] = ()
    unknown: tuple[Gap, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    expired: tuple[DriftRule, ...] = ()
    """Rules whose last day is over; they ignore nothing."""

    def state(self, layer: Layer) -> LayerState:
        if any(one.layer is layer for one in self.unknown):
            return LayerState.UNKNOWN
        if any(one.layer is layer for one in self.drifts):
            return LayerState.DRIFT
        return LayerState.SAME

    @property
    def states(self) -> dict[str, str]:
        return {layer.value: self.state(layer).value for layer in self.layers}
