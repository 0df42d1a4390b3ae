"""What goes wrong with a component in practice: how it shows, why, and what to do."""

from __future__ import annotations

from stockman.model.record import record


@record
class Trouble:
    """One known problem."""

    shows: str
    """What people see."""
    because: str
    fix: str


@record
class Alert:
    """One rule of Prometheus."""

    name: str
    expr: str
    holds: str
    """How long the expression has to hold, `10m`."""
    severity: str
    """`critical` or `warning`."""
    summary: str
    """One sentence; may use `{{ $labels.node }}`."""
    metrics: tuple[str, ...]
    """Names of metrics in the expression; each is in the table of metrics that exist."""
